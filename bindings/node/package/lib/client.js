'use strict';
// The client's side: requests that stay the same bytes however often they are sent, and responses that are checked before
// anybody sees them. There is no transport here: `send` is the application's.

const { MAX_STRING_LENGTH } = require('node:buffer').constants;
const { setTimeout: sleep } = require('node:timers/promises');
const signals = require('./abort-signals');
const boundedJson = require('./bounded-json');
const check = require('./check');
const { BadResponse, HostError } = require('./errors');
const freeJson = require('./free-json');
const native = require('./native');
const { METHODS } = require('./operations');

const CLIENT_OPTIONS = ['retries', 'retryDelayMs', 'protocolVersion'];
const CALL_OPTIONS = ['requestId', 'idempotencyKey', 'metadata', 'signal'];
const ENCODE_OPTIONS = ['requestId', 'idempotencyKey', 'metadata', 'protocolVersion'];
const LONGEST_RETRY_DELAY_MS = 30_000;

const supportedVersions = Object.freeze(native.supportedVersions());

/** Lets go of the native half of requests that nobody can reach any more. */
const unreachable = new FinalizationRegistry((number) => native.releaseRequest(number));

/** A request, frozen: its bytes are the same each time, so that a retry is a retry. */
class PreparedRequest {
  #number;
  #text;

  constructor(operation, { number, text, requestId, idempotencyKey }) {
    this.#number = number;
    this.#text = text;
    this.operation = operation;
    this.requestId = requestId;
    this.idempotencyKey = idempotencyKey;
    unreachable.register(this, number, this);
  }

  /** The envelope, a new copy each time: the transport may change or transfer it. */
  get bytes() {
    return Buffer.from(this.#text);
  }

  decodeResponse(data) {
    return decode('decodeResponse', data, this.#number);
  }

  /** Lets go of the native half at once: finalizers wait for the event loop, which a busy client may not give them. */
  static release(prepared) {
    unreachable.unregister(prepared);
    native.releaseRequest(prepared.#number);
  }
}
const { release } = PreparedRequest;
// Users of `encodeRequest` need not, and cannot.
delete PreparedRequest.release;

function encodeRequest(operation, request, given) {
  const options = check.options('encodeRequest', given, ENCODE_OPTIONS);
  if (!Object.hasOwn(METHODS, operation)) {
    throw new TypeError(`encodeRequest: unknown operation ${typeof operation === 'string' ? `"${operation}"` : check.kind(operation)}; known are ${Object.keys(METHODS).join(', ')}`);
  }
  if (request === null || typeof request !== 'object') throw new TypeError(`${METHODS[operation]}: expected a request object, found ${check.kind(request)}`);
  const { inputJson, ...typed } = request;
  const input = inputJson === undefined ? undefined : check.json('inputJson', inputJson);
  if (input !== undefined) delete typed.input;
  const body = boundedJson.stringify(typed, MAX_STRING_LENGTH, 'request');
  const { requestId, idempotencyKey, protocolVersion, metadata } = options;
  const around = {
    requestId: requestId === undefined ? undefined : check.text('requestId', requestId),
    idempotencyKey: idempotencyKey === undefined ? undefined : check.text('idempotencyKey', idempotencyKey),
    protocolVersion: protocolVersion === undefined ? undefined : check.text('protocolVersion', protocolVersion),
    metadata: check.pairs('metadata', metadata),
  };
  const prepare = () => native.prepareRequest(operation, body, input, around);
  const refuse = (path, expected) => new HostError('invalid_request', `${path}: ${expected}`, { details: { path } });
  return new PreparedRequest(operation, withRules(prepare, refuse));
}

function decodeResponse(data) {
  return decode('decodeResponse', data, undefined);
}

function decode(where, data, number) {
  const bytes = check.messageBytes(where, data);
  const parse = () => native.parseResponse(bytes, number);
  const [text, ...free] = withRules(parse, (path, expected) => new BadResponse(path, expected));
  const [protocolVersion, requestId, operation, body, error] = JSON.parse(text);
  if (error === null) {
    if (operation === 'get_run') freeJson.define(body, 'result', free[0]);
    if (operation === 'list_events') body.events.forEach((event, index) => freeJson.define(event, 'data', free[index]));
    return { protocolVersion, requestId, operation, ok: true, body, error: null };
  }
  const { code, message, retryable, metadata, originalCode } = error;
  const options = { retryable, detailsJson: free[0], metadata, ...(originalCode === '' ? {} : { originalCode }) };
  return { protocolVersion, requestId, operation, ok: false, body: null, error: new HostError(code, message, options) };
}

function isAborted(signal) {
  return signal !== undefined && signals.aborted(signal);
}

function throwIfAborted(signal) {
  if (isAborted(signal)) throw signals.reason(signal);
}

/** Calls native code that throws broken rules as `[path, expected]`. */
function withRules(call, toError) {
  try {
    return call();
  } catch (error) {
    if (error.code !== 'InvalidArg') throw error;
    const [path, expected] = JSON.parse(error.message);
    throw toError(path, expected);
  }
}

function negotiateVersion(offered) {
  const versions = Array.from(offered, (version, index) => check.text(`negotiateVersion: ${index}`, version));
  return native.negotiate(versions) ?? undefined;
}

function isSensitiveName(name) {
  return native.isSensitiveName(check.text('isSensitiveName', name));
}

class Client {
  #send;
  #retries;
  #retryDelayMs;
  #protocolVersion;

  constructor(send, given) {
    const options = check.options('Client', given, CLIENT_OPTIONS);
    if (typeof send !== 'function') throw new TypeError(`Client: expected send as a function, found ${check.kind(send)}`);
    this.#send = send;
    this.#retries = check.whole('Client: retries', options.retries, 0) ?? 2;
    this.#retryDelayMs = check.delay('Client: retryDelayMs', options.retryDelayMs) ?? 100;
    this.#protocolVersion = options.protocolVersion;
  }

  async #call(operation, request, given) {
    const { signal: aborter, ...around } = check.options(METHODS[operation], given, CALL_OPTIONS);
    const signal = check.signal(`${METHODS[operation]}: signal`, aborter);
    throwIfAborted(signal);
    const first = encodeRequest(operation, request, { ...around, protocolVersion: this.#protocolVersion });
    let received = await this.#exchange(first, signal);
    const version = this.#negotiate(received);
    if (version !== undefined) {
      const { requestId, idempotencyKey } = first;
      const named = { ...around, requestId, ...(idempotencyKey === '' ? {} : { idempotencyKey }) };
      received = await this.#exchange(encodeRequest(operation, request, { ...named, protocolVersion: version }), signal);
    }
    if (received.response.error !== null) throw received.response.error;
    return received.response.body;
  }

  /** The version to try after a refusal, and for all requests from now on. */
  #negotiate({ data }) {
    const tried = this.#protocolVersion ?? supportedVersions[0];
    const version = native.nextVersion(check.messageBytes('send', data), tried) ?? undefined;
    if (version !== undefined) this.#protocolVersion = version;
    return version;
  }

  async #exchange(prepared, signal) {
    try {
      return await this.#insist(prepared, signal);
    } finally {
      release(prepared);
    }
  }

  /** Sends the same bytes until there is an answer that no retry can change, or no retry is left. */
  async #insist(prepared, signal) {
    for (let attempt = 0; ; attempt++) {
      throwIfAborted(signal);
      const last = attempt >= this.#retries;
      let received;
      try {
        const data = await this.#send(prepared.bytes, { signal });
        received = { data };
      } catch (error) {
        if (last || isAborted(signal)) throw error;
      }
      if (received !== undefined) {
        received.response = prepared.decodeResponse(received.data);
        if (last || received.response.error?.retryable !== true) return received;
      }
      await sleep(Math.min(this.#retryDelayMs * 2 ** attempt, LONGEST_RETRY_DELAY_MS), undefined, { signal });
    }
  }

  createRun(request, options) {
    return this.#call('create_run', request, options);
  }

  getRun(request, options) {
    return this.#call('get_run', request, options);
  }

  cancelRun(request, options) {
    return this.#call('cancel_run', request, options);
  }

  resolveApproval(request, options) {
    return this.#call('resolve_approval', request, options);
  }

  resumeRun(request, options) {
    return this.#call('resume_run', request, options);
  }

  listEvents(request, options) {
    return this.#call('list_events', request, options);
  }
}

module.exports = { Client, decodeResponse, encodeRequest, isSensitiveName, negotiateVersion, supportedVersions };
