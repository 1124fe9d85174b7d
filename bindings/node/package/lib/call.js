'use strict';
// What a service gets about a call, beside the request.

const metadata = require('./packed/metadata');

class Call {
  #controller;
  #reason;
  #metadata;

  /** `packedMetadata` is the envelope's metadata as the native library packs it. */
  constructor(operation, requestId, idempotencyKey, packedMetadata, principal) {
    this.operation = operation;
    this.requestId = requestId;
    this.idempotencyKey = idempotencyKey;
    this.#metadata = packedMetadata;
    this.principal = principal;
  }

  /** Parsed when it is first read. */
  get metadata() {
    if (typeof this.#metadata === 'string') this.#metadata = metadata.parse(this.#metadata);
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

module.exports = { Call, abandon };
