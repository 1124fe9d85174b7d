'use strict';
// The calls in flight of one host, and who ends them early: a timeout, an abort, a close. How a call is answered then is the
// host's to know.

class Flights {
  #giveUp;
  /** A ring of flights: joining and leaving it costs nothing to speak of. */
  #ring = { next: undefined, previous: undefined };
  #size = 0;
  /** The calls that each signal aborts. */
  #signals = new WeakMap();
  /** Who waits for the last call to end. */
  #idle = [];

  /** `giveUp(flight, timedOut, reason)` answers a call for which nobody waits any more, if it is not answered. */
  constructor(giveUp) {
    this.#giveUp = giveUp;
    this.#ring.next = this.#ring.previous = this.#ring;
  }

  get size() {
    return this.#size;
  }

  /** A call is in flight. Flights have the members `next`, `previous`, `timer` and `unlisten`, undefined at first. */
  add(flight) {
    const last = this.#ring.previous;
    flight.previous = last;
    flight.next = this.#ring;
    last.next = this.#ring.previous = flight;
    this.#size++;
  }

  /** A call has its response. */
  remove(flight) {
    flight.previous.next = flight.next;
    flight.next.previous = flight.previous;
    // Who is old would keep who came later.
    flight.next = flight.previous = undefined;
    this.#size--;
    if (flight.timer !== undefined) clearTimeout(flight.timer);
    if (flight.unlisten !== undefined) flight.unlisten();
    if (this.#size === 0 && this.#idle.length > 0) for (const wake of this.#idle.splice(0)) wake();
  }

  all() {
    const flights = [];
    for (let flight = this.#ring.next; flight !== this.#ring; flight = flight.next) flights.push(flight);
    return flights;
  }

  /** Answers the call when it takes too long, or its caller does not want it any more. */
  watch(flight, signal, timeoutMs) {
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

  /** Waits until no call is in flight, `drainMs` at the most. */
  drained(drainMs) {
    if (this.#size === 0 || drainMs === 0) return undefined;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, drainMs);
      this.#idle.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

module.exports = { Flights };
