'use strict';
// What other threads tell this one: events of the native library go to whoever waits for them. While somebody does, the process is
// kept alive.

const { LONGEST_DELAY_MS } = require('./check');
const native = require('./native');

/** Who is told about a host, by its number: `{ opened, refused, closed, log }`. */
const hosts = new Map();
/** Who gets the response of a call, by its number. */
const calls = new Map();

/** A timer that does nothing, but for whether the event loop waits for it. Made when first needed. */
let keepAlive;
let waiting = 0;

/** Somebody waits for an event: the process goes on until `release`. */
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
