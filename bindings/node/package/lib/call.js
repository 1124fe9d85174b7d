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
  const [text, input] = typeof described === 'string' ? [described] : described;
  const [number, operation, requestId, idempotencyKey, metadata, request] = JSON.parse(text);
  if (input !== undefined) freeJson.define(request, 'input', input);
  return { number, call: new Call(operation, requestId, idempotencyKey, metadata, principal), request };
}

const { abandon } = Call;
// A service sees calls of this class: the way to abandon one is not for it.
delete Call.abandon;

module.exports = { METHODS, abandon, decode };
