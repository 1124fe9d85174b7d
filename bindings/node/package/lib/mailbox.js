'use strict';
// What other threads have to tell this one: news of the native library go to whoever waits for them. While somebody does, the
// process is kept alive.

const { LONGEST_DELAY_MS } = require('./check');
const native = require('./native');

/** Who is told about a host, by its number: `{ opened, refused, closed, log }`. */
const hosts = new Map();
/** Who gets the response of a call, by its number. */
const calls = new Map();

/** A timer that never matters, but for whether the event loop waits for it. Made when first needed. */
let alive;
let waiting = 0;

/** Somebody waits for news: the process goes on until `letGo`. */
function hold() {
  if (waiting++ === 0) alive.ref();
}

function letGo() {
  if (--waiting === 0) alive.unref();
}

/** Begins to listen, once in each thread. */
function listen() {
  if (alive !== undefined) return;
  native.listen(deliver);
  alive = setInterval(() => {}, LONGEST_DELAY_MS).unref();
}

/**
 * Tells what has come. Responses first: taking them runs nobody's code, which could begin a call with the number of one whose
 * response has been collected and not been told.
 */
function deliver() {
  const news = native.collect();
  for (const { kind, number, text } of news) {
    if (kind !== 'response') continue;
    const answer = calls.get(number);
    calls.delete(number);
    letGo();
    answer(text);
  }
  for (const { kind, number, text } of news) if (kind !== 'response') hosts.get(number)?.[kind](text);
}

/** Has `answer` called with the response of a call. */
function expect(call, answer) {
  calls.set(call, answer);
  hold();
}

module.exports = { deliver, expect, hold, hosts, letGo, listen };
