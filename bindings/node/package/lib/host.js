'use strict';
// The Host: runs a service between the two halves of the core's dispatch. Every call in flight is known to the core and to the
// host; each is answered once, by whoever comes first: the service, a timeout, an abort, a close.

const { inspect } = require('node:util');
const { METHODS, abandon } = require('./call');
const check = require('./check');
const durable = require('./durable');
const { HostError } = require('./errors');
const { Flights } = require('./flights');
const log = require('./log');
const native = require('./native');
const packed = require('./packed');
const responses = require('./responses');
const results = require('./results');
const scratch = require('./scratch');

const HOST_OPTIONS = ['maxMessageBytes', 'sensitiveNames', 'requirePrincipal', 'timeoutMs', 'onLog'];
const DISPATCH_OPTIONS = ['principal', 'signal', 'timeoutMs'];
const SYNC_OPTIONS = ['principal'];
const CLOSE_OPTIONS = ['drainMs'];
const DEFAULT_DRAIN_MS = 10_000;

/** Lets go of the native half of hosts that nobody can reach any more. */
const lost = new FinalizationRegistry((number) => native.releaseHost(number));

class Host {
  #number;
  #service;
  #timeoutMs;
  #onLog;
  #flights = new Flights((...told) => this.#giveUp(...told));
  #closing = false;

  constructor(service, given) {
    const options = check.options('Host', given, HOST_OPTIONS);
    this.#service = checkService(service);
    this.#timeoutMs = check.delay('Host: timeoutMs', options.timeoutMs);
    this.#onLog = check.callback('Host: onLog', options.onLog) ?? log.toProcessWarning;
    this.#number = createNative(options);
    lost.register(this, this.#number);
    check.bind(this);
  }

  static open(url, options) {
    return durable.open(url, options);
  }

  dispatchJson(data, given) {
    try {
      return this.#dispatch(data, given);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  dispatchJsonSync(data, given) {
    const options = check.options('dispatchJsonSync', given, SYNC_OPTIONS);
    const opened = this.#open('dispatchJsonSync', data, options.principal);
    if (isResponse(opened)) return Buffer.from(opened);
    const flight = this.#takeOff(opened, options.principal);
    const outcome = this.#serve(flight);
    if (!outcome.later) return flight.response ?? this.#land(flight, outcome);
    const method = METHODS[flight.call.operation];
    const cause = new TypeError(`${method} returned a promise: dispatchJsonSync needs a service that answers at once, use dispatchJson`);
    Promise.resolve(outcome.value).catch((late) => this.#log({ level: 'error', message: `${method} failed: ${log.show(late)}`, fields: {}, cause: late }));
    if (flight.response === undefined) this.#land(flight, { failed: true, value: cause });
    throw cause;
  }

  isSensitiveName(name) {
    return native.isSensitiveFor(this.#number, check.text('isSensitiveName', name));
  }

  async close(given) {
    const { drainMs = DEFAULT_DRAIN_MS } = check.options('close', given, CLOSE_OPTIONS);
    check.delay('close: drainMs', drainMs);
    native.refuseCalls(this.#number);
    this.#closing = true;
    const drained = this.#flights.drained(drainMs);
    // Without anything to wait for the host is closed before this returns.
    if (drained !== undefined) await drained;
    const records = native.closeHost(this.#number);
    const reason = new DOMException('The host is closed', 'AbortError');
    for (const flight of this.#flights.all()) this.#giveUp(flight, false, reason);
    this.#tell(records);
  }

  #dispatch(data, given) {
    const options = check.options('dispatchJson', given, DISPATCH_OPTIONS);
    const signal = check.signal('dispatchJson: signal', options.signal);
    const timeoutMs = check.delay('dispatchJson: timeoutMs', options.timeoutMs) ?? this.#timeoutMs;
    const opened = this.#open('dispatchJson', data, options.principal);
    if (isResponse(opened)) return Promise.resolve(Buffer.from(opened));
    const flight = this.#takeOff(opened, options.principal);
    if (signal?.aborted) {
      this.#giveUp(flight, false, signal.reason);
      return Promise.resolve(flight.response);
    }
    this.#flights.watch(flight, signal, timeoutMs);
    const outcome = this.#serve(flight);
    if (flight.response !== undefined) {
      // Nobody takes a late answer; that it fails is told all the same.
      if (outcome.later) this.#await(flight, outcome.value);
      return Promise.resolve(flight.response);
    }
    if (!outcome.later) return Promise.resolve(this.#land(flight, outcome));
    return new Promise((resolve) => {
      flight.resolve = resolve;
      this.#await(flight, outcome.value);
    });
  }

  /** The first half of a dispatch. */
  #open(where, data, principal) {
    if (principal !== undefined) check.text(`${where}: principal`, principal);
    try {
      if (typeof data === 'string') return this.#openWith(native.openText, check.message(where, data), principal);
      // Null: it is no message, or one that other threads can change while it is read.
      return this.#openWith(native.open, data, principal) ?? this.#openWith(native.open, check.message(where, data), principal);
    } catch (error) {
      throw error.code === 'InvalidArg' ? new TypeError(`${where}: ${error.message}`) : error;
    }
  }

  #openWith(open, message, principal) {
    return principal === undefined ? open(this.#number, message, scratch.memory) : open(this.#number, message, scratch.memory, principal);
  }

  #takeOff(opened, principal) {
    const { number, call, request } = packed.decode(opened, principal);
    const flight = {
      number,
      call,
      request,
      response: undefined,
      resolve: undefined,
      next: undefined,
      previous: undefined,
      timer: undefined,
      unlisten: undefined,
    };
    this.#flights.add(flight);
    return flight;
  }

  /** Calls the service's method: `{ value }`, with `later` when it is a promise of the answer, with `failed` when it threw. */
  #serve({ call, request }) {
    try {
      const value = this.#service[METHODS[call.operation]](request, call);
      return { value, later: typeof value?.then === 'function', failed: false };
    } catch (error) {
      return { value: error, later: false, failed: true };
    }
  }

  /** Takes the answer that a service promised. */
  #await(flight, promise) {
    Promise.resolve(promise).then(
      (value) => this.#landLate(flight, value, false),
      (error) => this.#landLate(flight, error, true),
    );
  }

  /** What fails here is the library itself: whoever waits is told. */
  #landLate(flight, value, failed) {
    try {
      this.#land(flight, { value, failed });
    } catch (fault) {
      flight.resolve?.(Promise.reject(fault));
    }
  }

  /** The second half of a dispatch: what the service answered, or how it failed. */
  #land(flight, { value, failed }) {
    if (failed) return this.#landFailure(flight, value);
    let texts;
    try {
      texts = packed.encode(flight.call.operation, value);
    } catch (error) {
      return this.#fail(flight, 'answered what cannot be sent', error, false);
    }
    // Looking at the answer may have run code of the service, which may have closed the host.
    if (flight.response !== undefined) return flight.response;
    if (texts !== undefined) {
      const place = responses.place();
      scratch.address(this.#number, flight.number, responses.used());
      const settled = native.completePacked(scratch.memory, texts, place);
      if (settled !== null) return this.#end(flight, settled, undefined);
    }
    return this.#landAsJson(flight, value);
  }

  #landAsJson(flight, value) {
    let json;
    try {
      json = results.encode(flight.call.operation, value);
    } catch (error) {
      return this.#fail(flight, 'answered what cannot be sent', error, false);
    }
    if (flight.response !== undefined) return flight.response;
    return this.#end(flight, native.complete(this.#number, flight.number, json.body, json.free), undefined);
  }

  #landFailure(flight, thrown) {
    if (!HostError.is(thrown)) return this.#fail(flight, 'failed', thrown, true);
    let error;
    try {
      error = results.encodeError(thrown);
    } catch (fault) {
      return this.#fail(flight, 'answered what cannot be sent', fault, true);
    }
    if (flight.response !== undefined) return flight.response;
    const { code, message, retryable, details, metadata } = error;
    return this.#end(flight, native.completeError(this.#number, flight.number, code, message, retryable, details, metadata), undefined);
  }

  /** The call is answered `internal`; what is wrong is for the log. That a service threw is told even when it comes late. */
  #fail(flight, what, cause, threw) {
    const message = `${METHODS[flight.call.operation]} ${what}: ${log.show(cause)}`;
    if (flight.response === undefined) return this.#end(flight, native.fail(this.#number, flight.number, message), cause);
    if (threw) this.#log({ level: 'warn', message: `after its call had been given up, ${message}`, fields: {}, cause });
    return flight.response;
  }

  /** Answers a call for which nobody waits any more. */
  #giveUp(flight, timedOut, reason) {
    if (flight.response !== undefined) return;
    this.#end(flight, native.giveUp(this.#number, flight.number, timedOut), undefined);
    abandon(flight.call, reason);
  }

  /** A call has its response. */
  #end(flight, settled, cause) {
    const withRecords = Array.isArray(settled);
    flight.response = typeof settled === 'number' ? responses.take(settled) : bytesOf(withRecords ? settled[0] : settled);
    this.#flights.remove(flight);
    if (flight.resolve !== undefined) flight.resolve(flight.response);
    if (withRecords) this.#tell(settled[1], cause);
    return flight.response;
  }

  #tell(records, cause) {
    for (const record of JSON.parse(records)) this.#log({ ...log.record(record), ...(cause === undefined ? {} : { cause }) });
  }

  #log(record) {
    log.emit(this.#onLog, record);
  }

  [inspect.custom](_depth, options) {
    return `Host ${inspect({ closing: this.#closing, inFlight: this.#flights.size }, options)}`;
  }
}

// A durable host is one too, though it has no service and so is not constructed like one.
Object.setPrototypeOf(durable.DurableHost.prototype, Host.prototype);

if (Symbol.asyncDispose !== undefined) {
  Object.defineProperty(Host.prototype, Symbol.asyncDispose, {
    value() {
      return this.close();
    },
    configurable: true,
    writable: true,
  });
}

function checkService(service) {
  if (service === null || (typeof service !== 'object' && typeof service !== 'function')) {
    throw new TypeError(`Host: expected a service object, found ${check.kind(service)}`);
  }
  const missing = Object.values(METHODS).filter((name) => typeof service[name] !== 'function');
  if (missing.length > 0) throw new TypeError(`Host: the service has no method ${missing.join(', ')}`);
  return service;
}

function createNative(options) {
  const { maxMessageBytes, sensitiveNames, requirePrincipal } = check.limits('Host', options);
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

/** Whether `open` gave a response; a call is described by an array. */
function isResponse(opened) {
  return typeof opened === 'string' && opened.charCodeAt(0) === 0x7b;
}

module.exports = { Host };
