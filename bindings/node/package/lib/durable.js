'use strict';
// A host of durable runs, opened by URL. The native library serves the calls on threads of its own; here their responses become
// promises, and timeouts and aborts end the wait for them.

const { inspect } = require('node:util');
const check = require('./check');
const { Flights } = require('./flights');
const log = require('./log');
const mailbox = require('./mailbox');
const native = require('./native');

const OPEN_OPTIONS = ['leaseMs', 'maxAttempts', 'keyTtlMs', 'maxMessageBytes', 'sensitiveNames', 'requirePrincipal', 'timeoutMs', 'onLog'];
const DISPATCH_OPTIONS = ['principal', 'signal', 'timeoutMs'];
const SYNC_OPTIONS = ['principal', 'timeoutMs'];
const CLOSE_OPTIONS = ['drainMs'];
const DEFAULT_DRAIN_MS = 10_000;

/** Closes the native half of hosts that nobody can reach any more. */
const lost = new FinalizationRegistry((number) => {
  mailbox.hosts.delete(number);
  native.releaseDurable(number);
});

class DurableHost {
  #number;
  #told;
  #timeoutMs;
  #flights = new Flights((...told) => this.#giveUp(...told));
  #closing = false;
  /** Settled when the runs are closed; not set before somebody closes them. */
  #closed;

  constructor(number, told, timeoutMs) {
    this.#number = number;
    this.#told = told;
    this.#timeoutMs = timeoutMs;
    lost.register(this, number, this);
    check.bind(this);
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
    const timeoutMs = check.delay('dispatchJsonSync: timeoutMs', options.timeoutMs) ?? this.#timeoutMs;
    const { message, principal } = this.#arguments('dispatchJsonSync', data, options.principal);
    return Buffer.from(misuse('dispatchJsonSync', () => native.dispatchDurableSync(this.#number, message, principal, timeoutMs)));
  }

  isSensitiveName(name) {
    return native.isSensitiveForDurable(this.#number, check.text('isSensitiveName', name));
  }

  async close(given) {
    const { drainMs = DEFAULT_DRAIN_MS } = check.options('close', given, CLOSE_OPTIONS);
    check.delay('close: drainMs', drainMs);
    native.refuseDurable(this.#number);
    this.#closing = true;
    await this.#flights.drained(drainMs);
    this.#closed ??= this.#close();
    await this.#closed;
  }

  #close() {
    return new Promise((resolve) => {
      this.#told.closed = () => {
        mailbox.letGo();
        mailbox.hosts.delete(this.#number);
        resolve();
      };
      mailbox.hold();
      native.closeDurable(this.#number);
    });
  }

  #dispatch(data, given) {
    const options = check.options('dispatchJson', given, DISPATCH_OPTIONS);
    const signal = check.signal('dispatchJson: signal', options.signal);
    const timeoutMs = check.delay('dispatchJson: timeoutMs', options.timeoutMs) ?? this.#timeoutMs;
    const { message, principal } = this.#arguments('dispatchJson', data, options.principal);
    const call = misuse('dispatchJson', () => native.dispatchDurable(this.#number, message, principal, signal?.aborted === true));
    if (typeof call === 'string') return Promise.resolve(Buffer.from(call));
    return new Promise((resolve) => {
      const flight = { number: call, answered: false, next: undefined, previous: undefined, timer: undefined, unlisten: undefined };
      this.#flights.add(flight);
      this.#flights.watch(flight, signal, timeoutMs);
      mailbox.expect(call, (response) => {
        flight.answered = true;
        this.#flights.remove(flight);
        resolve(Buffer.from(response));
      });
    });
  }

  #arguments(where, data, principal) {
    const message = check.message(where, data);
    return {
      message: typeof message === 'string' ? Buffer.from(message) : message,
      principal: principal === undefined ? undefined : check.text(`${where}: principal`, principal),
    };
  }

  /** Answers a call for which nobody waits any more. What was to be written is written all the same. */
  #giveUp(flight, timedOut) {
    if (flight.answered) return;
    native.giveUpDurable(flight.number, timedOut);
    mailbox.deliver();
  }

  [inspect.custom](_depth, options) {
    return `Host ${inspect({ durable: true, closing: this.#closing, inFlight: this.#flights.size }, options)}`;
  }
}

/** Runs native code whose refusals are misuse. */
function misuse(where, call) {
  try {
    return call();
  } catch (error) {
    throw error.code === 'InvalidArg' ? new TypeError(`${where}: ${error.message}`) : error;
  }
}

/** Opens runs by URL. */
async function open(url, given) {
  const options = check.options('Host.open', given, OPEN_OPTIONS);
  const address = check.text('Host.open: url', url);
  const timeoutMs = check.delay('Host.open: timeoutMs', options.timeoutMs);
  const onLog = check.callback('Host.open: onLog', options.onLog) ?? log.toProcessWarning;
  const settings = {
    ...check.limits('Host.open', options),
    leaseMs: atLeast('leaseMs', options, 1),
    maxAttempts: atLeast('maxAttempts', options, 0),
    keyTtlMs: atLeast('keyTtlMs', options, 1),
  };
  mailbox.listen();
  const told = { log: (record) => log.emit(onLog, log.record(JSON.parse(record))) };
  const number = misuse('Host.open', () => native.openDurable(address, settings));
  mailbox.hosts.set(number, told);
  mailbox.hold();
  try {
    await new Promise((resolve, reject) => Object.assign(told, { opened: resolve, refused: (why) => reject(refusal(...JSON.parse(why))) }));
  } catch (error) {
    mailbox.hosts.delete(number);
    throw error;
  } finally {
    mailbox.letGo();
  }
  return new DurableHost(number, told, timeoutMs);
}

function atLeast(name, options, least) {
  const value = options[name];
  return value === undefined ? undefined : check.whole(`Host.open: ${name}`, value, least);
}

function refusal(what, why) {
  if (what === 'url') return new TypeError(`Host.open: url: ${why}`);
  if (what === 'option') return new RangeError(`Host.open: ${why}`);
  return Object.assign(new Error(`Host.open: ${why}`), { code: 'ERR_AGENTHOST_STORE' });
}

module.exports = { DurableHost, open };
