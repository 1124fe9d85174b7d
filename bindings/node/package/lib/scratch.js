'use strict';
// Numbers on their way between here and the native library, in a place that is used again for each call: a header, and the numbers of
// an answer, among them how many UTF-16 units each of its texts has; or a call's time. The texts go behind each other as one string: V8
// puts strings together faster than anything here could write their characters. `src/packed` is the other end.

/** Room for a page of the most events and more. An answer that has none goes as JSON. */
const SIZE = 1 << 14;
/** The header's numbers are half as long as the others. */
const HEADER = 16;
const FIRST = HEADER / 2;

const numbers = new Float64Array(SIZE);
const memory = numbers.buffer;
const header = new Int32Array(memory, 0, HEADER);

let end = FIRST;
/** Whether something was not what it has to be. */
let odd = false;
/** Who uses the numbers. Looking at an answer may run code of the service, which may begin a call or another answer. */
let turn = 0;

/** The time that came with a call, or null. */
function time() {
  const told = numbers[FIRST];
  return Number.isNaN(told) ? null : told;
}

/** A call has come, with its numbers: an answer that was begun before is not whole any more. */
function arrived() {
  turn++;
}

/** Begins an answer: the turn, for `finish`. */
function begin() {
  end = FIRST;
  odd = false;
  return ++turn;
}

/** The answer's texts; undefined where it cannot go like this, or its numbers were used meanwhile. */
function finish(begun, texts) {
  return odd || end > SIZE || begun !== turn ? undefined : texts;
}

/** Says whose answer it is, and where its response goes. */
function address(host, call, offset) {
  header[0] = end - FIRST;
  header[1] = host;
  header[2] = call;
  header[3] = offset;
}

/** Something is not what it has to be: it has no texts. */
function refuse() {
  odd = true;
  return '';
}

/** A string, which is returned. */
function text(value) {
  if (typeof value !== 'string') return refuse();
  numbers[end++] = value.length;
  return value;
}

/** How many things follow, for `recount` to correct: its place. */
function count(value) {
  numbers[end] = value;
  return end++;
}

function recount(place, value) {
  numbers[place] = value;
}

function flag(value) {
  if (typeof value !== 'boolean') odd = true;
  numbers[end++] = value ? 1 : 0;
}

/** A whole number. */
function number(value) {
  if (Number.isSafeInteger(value)) numbers[end++] = value;
  else odd = true;
}

/** A whole number, or undefined or null. */
function optional(value) {
  if (value === undefined || value === null) numbers[end++] = NaN;
  else number(value);
}

module.exports = { address, arrived, begin, count, finish, flag, header, memory, number, optional, recount, refuse, text, time };
