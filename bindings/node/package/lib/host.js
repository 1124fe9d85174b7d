'use strict';
// The Host: runs a service between the two halves of the core's dispatch. Every call in flight is known to the core and to the
// host; each is answered once, by whoever comes first: the service, a timeout, an abort, a close.

const { inspect } = require('node:util');
const { METHODS, abandon, decode } = require('./call');
const check = require('./check');
const { HostError } = require('./errors');
const log = require('./log');
const native = require('./native');
const results = require('./results');

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
  /** The calls in flight, by their numbers. */
  #flights = new Map();
  /** The calls that each signal aborts. */
  #signals = new WeakMap();
  #closing = false;
  /** Who waits for the last call to end. */
  #idle = [];

  constructor(service, given) {
    const options = check.options('Host', given, HOST_OPTIONS);
    this.#service = checkService(service);
    this.#timeoutMs = check.delay('Host: timeoutMs', options.timeoutMs);
    this.#onLog = check.callback('Host: onLog', options.onLog) ?? log.toProcessWarning;
    this.#number = createNative(options);
    lost.register(this, this.#number);
    // Bound, so that they can be handed on as they are. As a host's own members they also make a structured clone fail:
    // without them `postMessage(host)` would arrive as `{}`.
    for (const name of ['dispatchJson', 'dispatchJsonSync', 'close']) this[name] = this[name].bind(this);
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
    if (this.#flights.size > 0 && drainMs > 0) await this.#drained(drainMs);
    const records = native.closeHost(this.#number);
    const reason = new DOMException('The host is closed', 'AbortError');
    for (const flight of [...this.#flights.values()]) this.#giveUp(flight, false, reason);
    this.#tell(records);
  }

  #drained(drainMs) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, drainMs);
      this.#idle.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #dispatch(data, given) {
    const options = check.options('dispatchJson', given, DISPATCH_OPTIONS);
    const signal = check.signal('dispatchJson: signal', options.signal);
    const timeoutMs = check.delay('dispatchJson: timeoutMs', options.timeoutMs) ?? this.#timeoutMs;
    const opened = this.#open('dispatchJson', data, options.principal);
    if (isResponse(opened)) return Promise.resolve(Buffer.from(opened));
    const flight = this.#takeOff(opened, options.principal);
    this.#watch(flight, signal, timeoutMs);
    if (flight.response !== undefined) return Promise.resolve(flight.response);
    const outcome = this.#serve(flight);
    if (flight.response !== undefined) {
      // Nobody takes a late answer; that it fails is told all the same.
      if (outcome.later) this.#await(flight, outcome.value);
      return Promise.resolve(flight.response);
    }
    if (!outcome.later) return Promise.resolve(this.#land(flight, outcome));
    return new Promise((resolve, reject) => {
      flight.resolve = resolve;
      flight.reject = reject;
      this.#await(flight, outcome.value);
    });
  }

  /** The first half of a dispatch. */
  #open(where, data, principal) {
    const message = check.message(where, data);
    const name = principal === undefined ? undefined : check.text(`${where}: principal`, principal);
    try {
      return typeof message === 'string' ? native.openText(this.#number, message, name) : native.open(this.#number, message, name);
    } catch (error) {
      throw error.code === 'InvalidArg' ? new TypeError(`${where}: ${error.message}`) : error;
    }
  }

  #takeOff(opened, principal) {
    const { number, call, request } = decode(opened, principal);
    const flight = { number, call, request, response: undefined, resolve: undefined, reject: undefined, timer: undefined, unlisten: undefined };
    this.#flights.set(number, flight);
    return flight;
  }

  /** Answers the call when it takes too long, or its caller does not want it any more. */
  #watch(flight, signal, timeoutMs) {
    if (signal?.aborted) {
      this.#giveUp(flight, false, signal.reason);
      return;
    }
    if (signal !== undefined) this.#listen(flight, signal);
    if (timeoutMs !== undefined) {
      const onTime = () => this.#giveUp(flight, true, new DOMException(`No answer within ${timeoutMs} ms`, 'TimeoutError'));
      flight.timer = setTimeout(onTime, timeoutMs);
    }
  }

  /** Listens to a signal once for all calls that share it: signals warn of more than ten listeners. */
  #listen(flight, signal) {
    let group = this.#signals.get(signal);
    if (group === undefined) {
      const flights = new Set();
      const onAbort = () => {
        for (const each of [...flights]) this.#giveUp(each, false, signal.reason);
      };
      group = { flights, onAbort };
      this.#signals.set(signal, group);
      signal.addEventListener('abort', onAbort, { once: true });
    }
    group.flights.add(flight);
    flight.unlisten = () => {
      group.flights.delete(flight);
      if (group.flights.size > 0 || this.#signals.get(signal) !== group) return;
      this.#signals.delete(signal);
      signal.removeEventListener('abort', group.onAbort);
    };
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

  /** Takes the answer that a service promised. What fails then is the library itself: whoever waits is told. */
  #await(flight, promise) {
    Promise.resolve(promise)
      .then(
        (value) => this.#land(flight, { value, failed: false }),
        (error) => this.#land(flight, { value: error, failed: true }),
      )
      .catch((fault) => flight.reject?.(fault));
  }

  /** The second half of a dispatch: what the service answered, or how it failed. */
  #land(flight, { value, failed }) {
    const { number, call } = flight;
    let cause = value;
    let settle;
    try {
      if (failed) {
        settle = HostError.is(value) ? errorSettler(this.#number, number, results.encodeError(value)) : undefined;
      } else {
        const { body, free } = results.encode(call.operation, value);
        settle = () => native.complete(this.#number, number, body, free);
      }
    } catch (error) {
      cause = error;
    }
    const method = METHODS[call.operation];
    const message = settle === undefined ? `${method} ${failed && cause === value ? 'failed' : 'answered what cannot be sent'}: ${log.show(cause)}` : '';
    // Looking at the answer may have run code of the service, which may have closed the host.
    if (flight.response !== undefined) {
      if (settle === undefined && failed) this.#log({ level: 'warn', message: `after its call had been given up, ${message}`, fields: {}, cause });
      return flight.response;
    }
    if (settle === undefined) return this.#end(flight, native.fail(this.#number, number, message), cause);
    return this.#end(flight, settle(), undefined);
  }

  /** Answers a call for which nobody waits any more. */
  #giveUp(flight, timedOut, reason) {
    if (flight.response !== undefined) return;
    this.#end(flight, native.giveUp(this.#number, flight.number, timedOut), undefined);
    abandon(flight.call, reason);
  }

  /** A call has its response. */
  #end(flight, settled, cause) {
    const withRecords = typeof settled !== 'string';
    flight.response = Buffer.from(withRecords ? settled[0] : settled);
    this.#flights.delete(flight.number);
    if (flight.timer !== undefined) clearTimeout(flight.timer);
    flight.unlisten?.();
    flight.resolve?.(flight.response);
    if (this.#closing && this.#flights.size === 0) for (const wake of this.#idle.splice(0)) wake();
    if (withRecords) this.#tell(settled[1], cause);
    return flight.response;
  }

  #tell(records, cause) {
    for (const [level, message, fields] of JSON.parse(records)) {
      this.#log({ level, message, fields: Object.fromEntries(fields), ...(cause === undefined ? {} : { cause }) });
    }
  }

  #log(record) {
    log.emit(this.#onLog, record);
  }

  [inspect.custom](_depth, options) {
    return `Host ${inspect({ closing: this.#closing, inFlight: this.#flights.size }, options)}`;
  }
}

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

function createNative({ maxMessageBytes, sensitiveNames = [], requirePrincipal = false }) {
  const limit = maxMessageBytes === undefined ? native.defaultMaxMessageBytes() : check.whole('Host: maxMessageBytes', maxMessageBytes, 1);
  if (!Array.isArray(sensitiveNames)) throw new TypeError(`Host: sensitiveNames: expected an array of strings, found ${check.kind(sensitiveNames)}`);
  const names = sensitiveNames.map((name, index) => check.text(`Host: sensitiveNames.${index}`, name));
  if (typeof requirePrincipal !== 'boolean') throw new TypeError(`Host: requirePrincipal: expected a boolean, found ${check.kind(requirePrincipal)}`);
  try {
    return native.createHost(limit, names, requirePrincipal);
  } catch (error) {
    throw new TypeError(`Host: ${error.message}`);
  }
}

function errorSettler(host, call, { code, message, retryable, details, metadata }) {
  return () => native.completeError(host, call, code, message, retryable, details, metadata);
}

/** Whether `open` gave a response; a call is described by an array. */
function isResponse(opened) {
  return typeof opened === 'string' && opened.charCodeAt(0) === 0x7b;
}

module.exports = { Host };
