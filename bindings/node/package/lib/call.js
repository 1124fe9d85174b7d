'use strict';
// What a service is told about a call, beside the request.

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

  /** `metadata` is JSON text, empty where there is none. */
  constructor(operation, requestId, idempotencyKey, metadata, principal) {
    this.operation = operation;
    this.requestId = requestId;
    this.idempotencyKey = idempotencyKey;
    this.#metadata = metadata;
    this.principal = principal;
  }

  /** Parsed when it is first read. */
  get metadata() {
    if (typeof this.#metadata === 'string') this.#metadata = this.#metadata === '' ? {} : JSON.parse(this.#metadata);
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

const { abandon } = Call;
// A service sees calls of this class: the way to abandon one is not for it.
delete Call.abandon;

module.exports = { Call, METHODS, abandon };
