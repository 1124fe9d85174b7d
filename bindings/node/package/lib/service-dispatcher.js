'use strict';
// Runs a service between the two halves of the core's dispatch. Every call under way is known to the core and here; each is answered
// once, by what comes first: the service, a timeout, an abort, a close.

const signals = require('./abort-signals');
const answerJson = require('./answer-json');
const { abandon } = require('./call');
const check = require('./check');
const { HostError } = require('./errors');
const log = require('./log');
const native = require('./native');
const { METHODS } = require('./operations');
const packedAnswer = require('./packed/answer');
const packedCall = require('./packed/call');
const numbers = require('./packed/numbers');
const { PendingCalls } = require('./pending-calls');
const responseMemory = require('./response-memory');

/** Lets go of the native half of hosts that nobody can reach any more. */
const unreachable = new FinalizationRegistry((number) => native.releaseHost(number));

class ServiceDispatcher {
  #number;
  #service;
  #onLog;
  #maxMessageBytes;
  #timeoutMs;
  #pending = new PendingCalls((...why) => this.#giveUp(...why));

  /** `limits` are checked; `timeoutMs` is for calls that bring none of their own. */
  constructor(service, limits, timeoutMs, onLog) {
    this.#service = checkService(service);
    this.#onLog = onLog;
    this.#maxMessageBytes = limits.maxMessageBytes;
    this.#timeoutMs = timeoutMs;
    this.#number = createHost(limits);
    unreachable.register(this, this.#number);
  }

  /** A promise of the response. */
  dispatch(data, { principal, signal, timeoutMs = this.#timeoutMs }) {
    const opened = this.#open('dispatchJson', data, principal);
    if (isResponse(opened)) return Promise.resolve(Buffer.from(opened));
    const call = this.#begin(opened, principal);
    if (signal !== undefined && signals.aborted(signal)) {
      this.#giveUp(call, false, signals.reason(signal));
      return Promise.resolve(call.response);
    }
    this.#watch(call, signal, timeoutMs);
    const outcome = this.#serve(call);
    if (call.response !== undefined) {
      // Nobody takes a late answer; that it fails is logged all the same.
      if (outcome.later) this.#await(call, outcome.value);
      return Promise.resolve(call.response);
    }
    if (!outcome.later) return Promise.resolve(this.#complete(call, outcome));
    return new Promise((resolve) => {
      call.resolve = resolve;
      this.#await(call, outcome.value);
    });
  }

  /** The response, of a service that answers at once. */
  dispatchSync(data, { principal }) {
    const opened = this.#open('dispatchJsonSync', data, principal);
    if (isResponse(opened)) return Buffer.from(opened);
    const call = this.#begin(opened, principal);
    const outcome = this.#serve(call);
    if (!outcome.later) return call.response ?? this.#complete(call, outcome);
    const method = METHODS[call.forService.operation];
    const cause = new TypeError(`${method} returned a promise: dispatchJsonSync needs a service that answers at once, use dispatchJson`);
    if (call.response === undefined) this.#complete(call, { failed: true, value: cause });
    settle(outcome.value, ignore, (late) => this.#log({ level: 'error', message: `${method} failed: ${log.show(late)}`, fields: {}, cause: late }));
    throw cause;
  }

  isSensitiveName(name) {
    return native.isSensitiveFor(this.#number, name);
  }

  get inFlight() {
    return this.#pending.size;
  }

  async close(drainMs) {
    native.refuseCalls(this.#number);
    const drained = this.#pending.drained(drainMs);
    // Without anything to wait for the host is closed before this returns.
    if (drained !== undefined) await drained;
    const records = native.closeHost(this.#number);
    const reason = new DOMException('The host is closed', 'AbortError');
    for (const call of this.#pending.all()) this.#giveUp(call, false, reason);
    this.#logAll(records);
  }

  /** The first half of a dispatch: the response, or a call as `packed/call` reads it. Its number is in the numbers' memory. */
  #open(where, data, principal) {
    try {
      if (typeof data === 'string') return this.#openWith(native.openText, check.message(where, data), principal);
      // Null: it is no message, or one that other threads can change while it is read.
      return this.#openWith(native.open, data, principal) ?? this.#openWith(native.open, check.message(where, data), principal);
    } catch (error) {
      throw error.code === 'InvalidArg' ? new TypeError(`${where}: ${error.message}`) : error;
    }
  }

  #openWith(open, message, principal) {
    return principal === undefined ? open(this.#number, message, numbers.memory) : open(this.#number, message, numbers.memory, principal);
  }

  #begin(opened, principal) {
    const { number, call: forService, request } = packedCall.decode(opened, principal);
    const call = {
      number,
      forService,
      request,
      response: undefined,
      resolve: undefined,
      next: undefined,
      previous: undefined,
      timer: undefined,
      signal: undefined,
    };
    this.#pending.add(call);
    return call;
  }

  /** A call that cannot be watched is not served: it would outlive its caller's patience. */
  #watch(call, signal, timeoutMs) {
    try {
      this.#pending.watch(call, signal, timeoutMs);
    } catch (error) {
      this.#giveUp(call, false, error);
      throw error;
    }
  }

  /** Calls the service's method: `{ value }`, with `later` when it is a promise of the answer, with `failed` when it threw. */
  #serve({ forService, request }) {
    try {
      const value = this.#service[METHODS[forService.operation]](request, forService);
      return { value, later: typeof value?.then === 'function', failed: false };
    } catch (error) {
      return { value: error, later: false, failed: true };
    }
  }

  /** Takes the answer that a service promised. */
  #await(call, promise) {
    settle(
      promise,
      (value) => this.#completeLate(call, value, false),
      (error) => this.#completeLate(call, error, true),
    );
  }

  /** What fails here is the library itself: its caller gets the failure, or the log where the caller has gone. */
  #completeLate(call, value, failed) {
    try {
      this.#complete(call, { value, failed });
    } catch (fault) {
      if (call.resolve !== undefined) call.resolve(Promise.reject(fault));
      else this.#log({ level: 'error', message: `agenthost failed: ${log.show(fault)}`, fields: {}, cause: fault });
    }
  }

  /**
   * The second half of a dispatch: what the service answered, or how it failed. Reading an answer may run code of the service, which may
   * have closed the host or begun other calls: nothing of it runs between the look at `call.response` and the native function.
   */
  #complete(call, { value, failed }) {
    if (failed) return this.#completeFailure(call, value);
    let texts;
    try {
      texts = packedAnswer.encode(call.forService.operation, value, this.#maxMessageBytes);
    } catch (error) {
      return this.#fail(call, 'answered what cannot be sent', error, false);
    }
    if (call.response !== undefined) return call.response;
    if (texts !== undefined) {
      const place = responseMemory.place();
      numbers.address(this.#number, call.number, responseMemory.used());
      const settled = native.completePacked(numbers.memory, texts, place);
      if (settled !== null) return this.#end(call, settled, undefined);
    }
    return this.#completeJson(call, value);
  }

  #completeJson(call, value) {
    let json;
    try {
      json = answerJson.encode(call.forService.operation, value, this.#maxMessageBytes);
    } catch (error) {
      return this.#fail(call, 'answered what cannot be sent', error, false);
    }
    if (call.response !== undefined) return call.response;
    return this.#end(call, native.complete(this.#number, call.number, json.body, json.free), undefined);
  }

  #completeFailure(call, thrown) {
    if (!HostError.is(thrown)) return this.#fail(call, 'failed', thrown, true);
    let error;
    try {
      error = answerJson.encodeError(thrown, this.#maxMessageBytes);
    } catch (fault) {
      return this.#fail(call, 'answered what cannot be sent', fault, true);
    }
    if (call.response !== undefined) return call.response;
    const { code, message, retryable, details, metadata } = error;
    return this.#end(call, native.completeError(this.#number, call.number, code, message, retryable, details, metadata), undefined);
  }

  /** The call is answered `internal`; what is wrong is for the log. That a service threw is logged even when it comes late. */
  #fail(call, what, cause, threw) {
    const message = `${METHODS[call.forService.operation]} ${what}: ${log.show(cause)}`;
    if (call.response === undefined) return this.#end(call, native.fail(this.#number, call.number, message), cause);
    if (threw) this.#log({ level: 'warn', message: `after its call had been given up, ${message}`, fields: {}, cause });
    return call.response;
  }

  /** Answers a call for which nobody waits any more. */
  #giveUp(call, timedOut, reason) {
    if (call.response !== undefined) return;
    this.#end(call, native.giveUp(this.#number, call.number, timedOut), undefined);
    abandon(call.forService, reason);
  }

  /** A call has its response. */
  #end(call, settled, cause) {
    const withRecords = Array.isArray(settled);
    call.response = typeof settled === 'number' ? responseMemory.take(settled) : bytesOf(withRecords ? settled[0] : settled);
    this.#pending.remove(call);
    if (call.resolve !== undefined) call.resolve(call.response);
    if (withRecords) this.#logAll(settled[1], cause);
    return call.response;
  }

  #logAll(records, cause) {
    for (const record of JSON.parse(records)) this.#log({ ...log.record(record), ...(cause === undefined ? {} : { cause }) });
  }

  #log(record) {
    log.emit(this.#onLog, record);
  }
}

/** Has one of the two called when a promise, or what looks like one, is settled; `onRejected` also when it cannot be awaited. */
function settle(promise, onFulfilled, onRejected) {
  try {
    Promise.resolve(promise).then(onFulfilled, onRejected);
  } catch (error) {
    onRejected(error);
  }
}

function ignore() {}

function checkService(service) {
  if (service === null || (typeof service !== 'object' && typeof service !== 'function')) {
    throw new TypeError(`Host: expected a service object, found ${check.kind(service)}`);
  }
  const missing = Object.values(METHODS).filter((name) => typeof service[name] !== 'function');
  if (missing.length > 0) throw new TypeError(`Host: the service has no method ${missing.join(', ')}`);
  return service;
}

function createHost({ maxMessageBytes, sensitiveNames, requirePrincipal }) {
  try {
    return native.createHost(maxMessageBytes, sensitiveNames, requirePrincipal);
  } catch (error) {
    throw new TypeError(`Host: ${error.message}`);
  }
}

/** A response, which comes as text or as bytes. */
function bytesOf(response) {
  return typeof response === 'string' ? Buffer.from(response) : response;
}

/** Whether `open` gave a response; a call does not begin like JSON. */
function isResponse(opened) {
  return typeof opened === 'string' && opened.charCodeAt(0) === 0x7b;
}

module.exports = { ServiceDispatcher };
