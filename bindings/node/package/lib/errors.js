'use strict';
// The errors of the package. A HostError is known by a mark, so that two copies of the package know each other's.

const check = require('./check');
const freeJson = require('./free-json');
const native = require('./native');

const MARK = Symbol.for('agenthost.HostError');
const CODES = Object.freeze(native.errorCodes());
const CONFLICT_REASONS = Object.freeze(native.conflictReasons());
const CONFLICT_NUMBERS = ['currentRevision', 'retryAfterMs', 'firstSequence', 'headSequence'];
const OPTIONS = ['retryable', 'details', 'detailsJson', 'metadata', 'originalCode', 'cause'];

/** What a service answers when it cannot do what it is asked, and what a client throws when a host says so. */
class HostError extends Error {
  constructor(code, message, given) {
    const options = check.options('HostError', given, OPTIONS);
    if (!CODES.includes(code)) {
      throw new TypeError(`HostError: unknown code ${typeof code === 'string' ? `"${code}"` : check.kind(code)}; known are ${CODES.join(', ')}`);
    }
    if (typeof message !== 'string') throw new TypeError(`HostError: expected a message as a string, found ${check.kind(message)}`);
    const { retryable = false, details = {}, detailsJson, metadata = {}, originalCode } = options;
    if (typeof retryable !== 'boolean') throw new TypeError(`HostError: expected retryable to be a boolean, found ${check.kind(retryable)}`);
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.retryable = retryable;
    if (detailsJson === undefined) this.details = details;
    else freeJson.define(this, 'details', check.json('HostError: detailsJson', detailsJson));
    this.metadata = metadata;
    if (originalCode !== undefined) this.originalCode = originalCode;
  }

  /** Why a call conflicts with the state of a durable run, and what to go on with; undefined for any other error. */
  get conflict() {
    const { code, details } = this;
    if (code !== 'conflict' || details === null || typeof details !== 'object' || !CONFLICT_REASONS.includes(details.reason)) return undefined;
    const conflict = { reason: details.reason };
    for (const name of CONFLICT_NUMBERS) if (Number.isSafeInteger(details[name])) conflict[name] = details[name];
    if (typeof details.status === 'string') conflict.status = details.status;
    return conflict;
  }

  /** Whether a value is a HostError, of this copy of the package or of another. Never throws. */
  static is(value) {
    try {
      return typeof value === 'object' && value !== null && value[MARK] === true;
    } catch {
      return false;
    }
  }
}
Object.defineProperty(HostError.prototype, 'name', { value: 'HostError', configurable: true, writable: true });
Object.defineProperty(HostError.prototype, MARK, { value: true });

/** What a client received is no valid response, or none to its request. */
class BadResponse extends Error {
  constructor(path, expected) {
    super(`not a valid response: ${path === '' ? '' : `${path}: `}${expected}`);
    this.path = path;
  }
}
Object.defineProperty(BadResponse.prototype, 'name', { value: 'BadResponse', configurable: true, writable: true });

module.exports = { BadResponse, HostError };
