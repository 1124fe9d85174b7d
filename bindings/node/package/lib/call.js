'use strict';
// What a service is told about a call, beside the request.

const freeJson = require('./json');

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

  constructor(operation, requestId, idempotencyKey, metadata, principal) {
    this.operation = operation;
    this.requestId = requestId;
    this.idempotencyKey = idempotencyKey;
    this.metadata = metadata;
    this.principal = principal;
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

/** A call as `open` describes it: its number, what the service is told, and the request. */
function decode(described, principal) {
  const hasInput = typeof described !== 'string';
  // By index: taking an array apart by its iterator costs as much as a method of the service.
  const told = JSON.parse(hasInput ? described[0] : described);
  const request = told[5];
  if (hasInput) freeJson.define(request, 'input', described[1]);
  return { number: told[0], call: new Call(told[1], told[2], told[3], told[4], principal), request };
}

const { abandon } = Call;
// A service sees calls of this class: the way to abandon one is not for it.
delete Call.abandon;

module.exports = { METHODS, abandon, decode };
