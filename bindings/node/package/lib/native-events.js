'use strict';
// Events from the threads of the native library, for whatever waits for them in this one. While something does, the process
// is kept alive.

const { LONGEST_DELAY_MS } = require('./check');
const native = require('./native');

/** The receivers of the events of each host, by its number: `{ opened, refused, closed, log }`. */
const hosts = new Map();
/** The receiver of the response of each call, by its number. */
const calls = new Map();

/** A timer that does nothing, but for whether the event loop waits for it. Made when first needed. */
let keepAlive;
let waiting = 0;

/** Something waits for an event: the process goes on until `release`. */
function hold() {
  if (waiting++ === 0) keepAlive.ref();
}

function release() {
  if (--waiting === 0) keepAlive.unref();
}

/** Begins to listen, once in each thread. */
function listen() {
  if (keepAlive !== undefined) return;
  native.listen(deliver);
  keepAlive = setInterval(() => {}, LONGEST_DELAY_MS).unref();
}

/**
 * Delivers what has come. The library has given the numbers of answered calls and closed hosts free with their events: each event finds
 * its receiver before any receiver runs, since code of the application could begin a call, or open a host, with the same number.
 */
function deliver() {
  const events = native.takeEvents();
  const receivers = events.map(({ kind, number }) => (kind === 'response' ? takeCall(number) : hostReceiver(kind, number)));
  for (let index = 0; index < events.length; index++) receivers[index]?.(events[index].text);
}

function takeCall(number) {
  const receiver = calls.get(number);
  calls.delete(number);
  release();
  return receiver;
}

function hostReceiver(kind, number) {
  const receivers = hosts.get(number);
  if (kind === 'closed' || kind === 'refused') hosts.delete(number);
  return receivers?.[kind];
}

/** Has `receiver` called with the response of a call. */
function expectResponse(call, receiver) {
  calls.set(call, receiver);
  hold();
}

module.exports = { deliver, expectResponse, hold, hosts, listen, release };
