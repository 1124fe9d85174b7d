'use strict';
// The calls of one host that wait for their response, and who ends them early: a timeout, an abort, a close. How a call is answered
// then is its dispatcher's to know.

const signals = require('./abort-signals');

class PendingCalls {
  #giveUp;
  /** The calls as a doubly linked list that ends where it begins: adding and removing one costs nothing to speak of. */
  #list = { next: undefined, previous: undefined };
  #size = 0;
  /** For each signal the calls that it aborts, and its listener. */
  #signals = new WeakMap();
  /** Who waits for the last call to end. */
  #drains = [];

  /** `giveUp(call, timedOut, reason)` answers a call for which nobody waits any more, if it is not answered. */
  constructor(giveUp) {
    this.#giveUp = giveUp;
    this.#list.next = this.#list.previous = this.#list;
  }

  get size() {
    return this.#size;
  }

  /** A call waits from here on. It has the members `next`, `previous`, `timer` and `signal`, undefined at first. */
  add(call) {
    const last = this.#list.previous;
    call.previous = last;
    call.next = this.#list;
    last.next = this.#list.previous = call;
    this.#size++;
  }

  /** A call has its response. Throws nothing: who comes after it is to have one too. */
  remove(call) {
    call.previous.next = call.next;
    call.next.previous = call.previous;
    // An old object that points to a young one would keep it until the next full collection.
    call.next = call.previous = undefined;
    this.#size--;
    if (call.timer !== undefined) clearTimeout(call.timer);
    if (call.signal !== undefined) this.#unlisten(call, call.signal);
    if (this.#size === 0 && this.#drains.length > 0) for (const wake of this.#drains.splice(0)) wake();
  }

  all() {
    const calls = [];
    for (let call = this.#list.next; call !== this.#list; call = call.next) calls.push(call);
    return calls;
  }

  /** Answers the call when it takes too long, or its caller does not want it any more. */
  watch(call, signal, timeoutMs) {
    if (signal !== undefined) this.#listen(call, signal);
    if (timeoutMs !== undefined) {
      const onTime = () => this.#giveUp(call, true, new DOMException(`No answer within ${timeoutMs} ms`, 'TimeoutError'));
      call.timer = setTimeout(onTime, timeoutMs);
    }
  }

  /** Listens to a signal once for all calls that share it: signals warn of more than ten listeners. */
  #listen(call, signal) {
    let shared = this.#signals.get(signal);
    if (shared === undefined) {
      const calls = new Set();
      const onAbort = () => {
        for (const each of [...calls]) this.#giveUp(each, false, signals.reason(signal));
      };
      shared = { calls, onAbort };
      signals.listen(signal, onAbort);
      this.#signals.set(signal, shared);
    }
    shared.calls.add(call);
    call.signal = signal;
  }

  #unlisten(call, signal) {
    const shared = this.#signals.get(signal);
    shared.calls.delete(call);
    if (shared.calls.size > 0) return;
    this.#signals.delete(signal);
    try {
      signals.unlisten(signal, shared.onAbort);
    } catch {
      // The signal's class has been tampered with. The listener stays, and finds no call.
    }
  }

  /** Waits until no call is left, `drainMs` at the most. Undefined: there is nothing to wait for. */
  drained(drainMs) {
    if (this.#size === 0 || drainMs === 0) return undefined;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, drainMs);
      this.#drains.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

module.exports = { PendingCalls };
