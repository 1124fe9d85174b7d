'use strict';
// The Host as applications see it: checks what it is given before anything begins. What a dispatch then does is its dispatcher's: of a
// service, or of durable runs.

const { inspect } = require('node:util');
const check = require('./check');
const durable = require('./durable-dispatcher');
const log = require('./log');
const { ServiceDispatcher } = require('./service-dispatcher');

const LIMITS = ['maxMessageBytes', 'sensitiveNames', 'requirePrincipal'];
const HOST_OPTIONS = [...LIMITS, 'timeoutMs', 'onLog'];
const OPEN_OPTIONS = ['leaseMs', 'maxAttempts', 'keyTtlMs', 'operators', ...HOST_OPTIONS];
const DISPATCH_OPTIONS = ['principal', 'signal', 'timeoutMs'];
const SYNC_OPTIONS = ['principal'];
const DURABLE_SYNC_OPTIONS = ['principal', 'timeoutMs'];
const CLOSE_OPTIONS = ['drainMs'];
const DEFAULT_DRAIN_MS = 10_000;

class Host {
  #dispatcher;
  #closing = false;

  constructor(service, given) {
    this.#dispatcher = service instanceof durable.DurableDispatcher ? service : serviceDispatcher(service, given);
    // Bound, the methods can be handed on as they are. As the host's own members they also make a structured clone fail: without them
    // `postMessage(host)` would arrive as `{}`.
    for (const name of ['dispatchJson', 'dispatchJsonSync', 'close']) this[name] = this[name].bind(this);
  }

  static async open(url, given) {
    const { leaseMs, maxAttempts, keyTtlMs, operators, ...options } = check.options('Host.open', given, OPEN_OPTIONS);
    const address = check.text('Host.open: url', url);
    const settings = {
      ...check.limits('Host.open', options),
      leaseMs: check.whole('Host.open: leaseMs', leaseMs, 1),
      maxAttempts: check.whole('Host.open: maxAttempts', maxAttempts, 0),
      keyTtlMs: check.whole('Host.open: keyTtlMs', keyTtlMs, 1),
      operators: check.texts('Host.open: operators', operators),
    };
    const { timeoutMs, onLog } = waitAndLog('Host.open', options);
    return new Host(await durable.open(address, settings, timeoutMs, onLog));
  }

  dispatchJson(data, given) {
    try {
      return this.#dispatcher.dispatch(data, given === undefined ? NO_OPTIONS : dispatchOptions('dispatchJson', given, DISPATCH_OPTIONS));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  dispatchJsonSync(data, given) {
    const known = this.#isDurable ? DURABLE_SYNC_OPTIONS : SYNC_OPTIONS;
    return this.#dispatcher.dispatchSync(data, given === undefined ? NO_OPTIONS : dispatchOptions('dispatchJsonSync', given, known));
  }

  isSensitiveName(name) {
    return this.#dispatcher.isSensitiveName(check.text('isSensitiveName', name));
  }

  async close(given) {
    const { drainMs = DEFAULT_DRAIN_MS } = check.options('close', given, CLOSE_OPTIONS);
    check.delay('close: drainMs', drainMs);
    this.#closing = true;
    await this.#dispatcher.close(drainMs);
  }

  get #isDurable() {
    return this.#dispatcher instanceof durable.DurableDispatcher;
  }

  [inspect.custom](_depth, options) {
    const state = { ...(this.#isDurable ? { durable: true } : {}), closing: this.#closing, inFlight: this.#dispatcher.inFlight };
    return `Host ${inspect(state, options)}`;
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

const NO_OPTIONS = Object.freeze({ principal: undefined, signal: undefined, timeoutMs: undefined });

/** The options of a dispatch: each is read once, and checked. */
function dispatchOptions(where, given, known) {
  const options = check.options(where, given, known);
  const { signal, timeoutMs } = options;
  return {
    principal: check.principal(where, options),
    signal: check.signal(`${where}: signal`, signal),
    timeoutMs: check.delay(`${where}: timeoutMs`, timeoutMs),
  };
}

function serviceDispatcher(service, given) {
  const options = { ...check.options('Host', given, HOST_OPTIONS) };
  const { timeoutMs, onLog } = waitAndLog('Host', options);
  return new ServiceDispatcher(service, check.limits('Host', options), timeoutMs, onLog);
}

/** How long a host waits for answers, and where it logs. */
function waitAndLog(where, { timeoutMs, onLog }) {
  return { timeoutMs: check.delay(`${where}: timeoutMs`, timeoutMs), onLog: check.callback(`${where}: onLog`, onLog) ?? log.toProcessWarning };
}

module.exports = { Host };
