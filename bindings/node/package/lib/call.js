'use strict';
// What a service is told about a call, beside the request.

const { DIGITS, digits } = require('./digits');

const METHODS = Object.freeze({
  create_run: 'createRun',
  get_run: 'getRun',
  cancel_run: 'cancelRun',
  resolve_approval: 'resolveApproval',
  resume_run: 'resumeRun',
  list_events: 'listEvents',
});

class Call {
  #controller;
  #reason;
  #metadata;

  /** `metadata` is its names and values, each behind its length. */
  constructor(operation, requestId, idempotencyKey, metadata, principal) {
    this.operation = operation;
    this.requestId = requestId;
    this.idempotencyKey = idempotencyKey;
    this.#metadata = metadata;
    this.principal = principal;
  }

  /** Parsed when it is first read. */
  get metadata() {
    if (typeof this.#metadata === 'string') this.#metadata = pairs(this.#metadata);
    return this.#metadata;
  }

  /** Aborted when nobody waits for the answer any more. Made when it is first read: most services never do. */
  get signal() {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Says why nobody waits any more. Listeners of the signal run now. */
  static abandon(call, reason) {
    call.#reason = reason;
    call.#controller?.abort(reason);
  }
}

/** An object of names and values that stand behind their lengths. */
function pairs(told) {
  const object = {};
  let at = 0;
  const next = () => {
    const start = at + DIGITS;
    at = start + digits(told, at);
    return told.slice(start, at);
  };
  while (at < told.length) {
    const name = next();
    const value = next();
    // As JSON.parse does: a member of its own, whatever the name.
    if (name === '__proto__') Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
    else object[name] = value;
  }
  return object;
}

const { abandon } = Call;
// A service sees calls of this class: the way to abandon one is not for it.
delete Call.abandon;

module.exports = { Call, METHODS, abandon, pairs };
