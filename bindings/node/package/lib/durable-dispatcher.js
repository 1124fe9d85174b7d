'use strict';
// Durable runs that the native library serves on threads of its own. Here their responses become promises, and timeouts and aborts end
// the wait for them.

const signals = require('./abort-signals');
const check = require('./check');
const log = require('./log');
const native = require('./native');
const events = require('./native-events');
const { PendingCalls } = require('./pending-calls');

/** Closes the native half of hosts that nobody can reach any more. */
const unreachable = new FinalizationRegistry((number) => {
  events.hosts.delete(number);
  native.releaseDurable(number);
});

class DurableDispatcher {
  #number;
  #receivers;
  #timeoutMs;
  #pending = new PendingCalls((call, timedOut) => this.#giveUp(call, timedOut));
  /** Settled when the runs are closed; not set before somebody closes them. */
  #closed;

  /** `receivers` get the native events of the host with that number. */
  constructor(number, receivers, timeoutMs) {
    this.#number = number;
    this.#receivers = receivers;
    this.#timeoutMs = timeoutMs;
    unreachable.register(this, number);
  }

  /** A promise of the response. */
  dispatch(data, { principal, signal, timeoutMs = this.#timeoutMs }) {
    const message = check.messageBytes('dispatchJson', data);
    const cancelled = signal !== undefined && signals.aborted(signal);
    const begun = misuse('dispatchJson', () => native.dispatchDurable(this.#number, message, principal, cancelled));
    if (typeof begun === 'string') return Promise.resolve(Buffer.from(begun));
    const call = { number: begun, resolve: undefined, next: undefined, previous: undefined, timer: undefined, signal: undefined };
    const response = new Promise((resolve) => {
      call.resolve = resolve;
    });
    this.#pending.add(call);
    events.expectResponse(begun, (text) => this.#end(call, text));
    try {
      this.#pending.watch(call, signal, timeoutMs);
    } catch (error) {
      this.#giveUp(call, false);
      throw error;
    }
    return response;
  }

  /** The response; this thread waits for it. */
  dispatchSync(data, { principal, timeoutMs = this.#timeoutMs }) {
    const message = check.messageBytes('dispatchJsonSync', data);
    return Buffer.from(misuse('dispatchJsonSync', () => native.dispatchDurableSync(this.#number, message, principal, timeoutMs)));
  }

  isSensitiveName(name) {
    return native.isSensitiveForDurable(this.#number, name);
  }

  get inFlight() {
    return this.#pending.size;
  }

  async close(drainMs) {
    native.refuseDurable(this.#number);
    await this.#pending.drained(drainMs);
    this.#closed ??= this.#closeRuns();
    await this.#closed;
  }

  #closeRuns() {
    return new Promise((resolve) => {
      this.#receivers.closed = () => {
        events.release();
        resolve();
      };
      native.closeDurable(this.#number);
      events.hold();
    });
  }

  #end(call, response) {
    const { resolve } = call;
    call.resolve = undefined;
    this.#pending.remove(call);
    resolve(Buffer.from(response));
  }

  /** Answers a call for which nobody waits any more. What was to be written is written all the same. */
  #giveUp(call, timedOut) {
    if (call.resolve === undefined) return;
    native.giveUpDurable(call.number, timedOut);
    events.deliver();
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

/** Opens runs by URL; `settings` are checked for their types. */
async function open(url, settings, timeoutMs, onLog) {
  events.listen();
  const receivers = { log: (record) => log.emit(onLog, log.record(JSON.parse(record))) };
  const number = misuse('Host.open', () => native.openDurable(url, settings));
  events.hosts.set(number, receivers);
  events.hold();
  try {
    await new Promise((resolve, reject) => Object.assign(receivers, { opened: resolve, refused: (why) => reject(refusal(...JSON.parse(why))) }));
  } finally {
    events.release();
  }
  return new DurableDispatcher(number, receivers, timeoutMs);
}

function refusal(what, why) {
  if (what === 'url') return new TypeError(`Host.open: url: ${why}`);
  if (what === 'option') return new RangeError(`Host.open: ${why}`);
  return Object.assign(new Error(`Host.open: ${why}`), { code: 'ERR_AGENTHOST_STORE' });
}

module.exports = { DurableDispatcher, open };
