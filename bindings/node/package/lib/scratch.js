'use strict';
// The bytes of an answer on their way to the native library, in a place that is used again for each: text with its length
// before it, numbers as digits. `src/packed/parts.rs` reads them. Short ASCII is written here, character by character: a call
// into Node would cost more than that.

const SIZE = 16384;
/** A place that has grown beyond this is not kept. */
const MOST_KEPT = 1 << 20;
/** Text up to this length is written here; a call into Node is faster for what is longer. */
const SHORT = 32;
/** Stands before a longer length, and before no other. */
const LONG = 0x7f;
const DIGITS = 5;
/** The bytes of a number: its sign, and eight digits of seven bits. */
const NUMBER = 9;
const [ABSENT, POSITIVE, NEGATIVE] = [0, 1, 2];

let bytes = Buffer.allocUnsafeSlow(SIZE);
let end = 0;
/** Whether something was not what it has to be. */
let odd = false;
/** The number of the answer that is written. Looking at one may run code of the service, which may begin another. */
let turn = 0;

/** Begins an answer: the turn, for `finish`. */
function begin() {
  if (bytes.length > MOST_KEPT) bytes = Buffer.allocUnsafeSlow(SIZE);
  end = 0;
  odd = false;
  return ++turn;
}

/** How many bytes the answer has; undefined where it cannot go as bytes, or another was begun meanwhile. */
function finish(begun) {
  return odd || begun !== turn ? undefined : end;
}

/** Something is not what it has to be. */
function refuse() {
  odd = true;
}

/** Where the answer is. */
function memory() {
  return bytes.buffer;
}

function grow(room) {
  const larger = Buffer.allocUnsafeSlow(2 * (end + room));
  bytes.copy(larger, 0, 0, end);
  bytes = larger;
}

/** A string. */
function text(value) {
  if (typeof value !== 'string') {
    odd = true;
    return;
  }
  const length = value.length;
  if (length > SHORT) {
    longText(value);
    return;
  }
  if (end + SHORT >= bytes.length) grow(SHORT);
  const place = bytes;
  const start = end + 1;
  let seen = 0;
  for (let index = 0; index < length; index++) {
    const unit = value.charCodeAt(index);
    seen |= unit;
    place[start + index] = unit;
  }
  if (seen > 0x7f) {
    longText(value);
    return;
  }
  place[end] = length;
  end = start + length;
}

function longText(value) {
  // The border would put another character in a lone surrogate's place.
  if (!value.isWellFormed()) {
    odd = true;
    return;
  }
  const room = 1 + DIGITS + 3 * value.length;
  if (end + room > bytes.length) grow(room);
  const length = bytes.write(value, end + 1 + DIGITS);
  longCount(length);
  end += length;
}

/** How many things follow. */
function count(value) {
  if (value < LONG) {
    if (end >= bytes.length) grow(1);
    bytes[end++] = value;
  } else {
    if (end + 1 + DIGITS > bytes.length) grow(1 + DIGITS);
    longCount(value);
  }
}

/** Pairs follow, whose number is not known yet: the place for it. */
function openPairs() {
  const place = end;
  count(0);
  return place;
}

/** More pairs than one byte can tell go as JSON. */
function closePairs(place, pairs) {
  if (pairs < LONG) bytes[place] = pairs;
  else odd = true;
}

function longCount(value) {
  bytes[end++] = LONG;
  digits(value % 0x10000000);
  bytes[end++] = Math.floor(value / 0x10000000);
}

/** Four digits. */
function digits(value) {
  bytes[end] = value & 0x7f;
  bytes[end + 1] = (value >> 7) & 0x7f;
  bytes[end + 2] = (value >> 14) & 0x7f;
  bytes[end + 3] = value >> 21;
  end += 4;
}

function flag(value) {
  if (typeof value !== 'boolean') odd = true;
  if (end >= bytes.length) grow(1);
  bytes[end++] = value ? 1 : 0;
}

/** A whole number. */
function number(value) {
  if (!Number.isSafeInteger(value)) {
    odd = true;
    return;
  }
  if (end + NUMBER > bytes.length) grow(NUMBER);
  bytes[end++] = value < 0 ? NEGATIVE : POSITIVE;
  const size = Math.abs(value);
  const high = Math.floor(size / 0x10000000);
  digits(size - high * 0x10000000);
  digits(high);
}

/** A whole number, or undefined or null. */
function optional(value) {
  if (value !== undefined && value !== null) {
    number(value);
    return;
  }
  if (end >= bytes.length) grow(1);
  bytes[end++] = ABSENT;
}

module.exports = { begin, closePairs, count, finish, flag, memory, number, openPairs, optional, refuse, text };
