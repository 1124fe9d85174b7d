'use strict';
// The memory in which numbers go between here and the native library, used again for each call. It begins with a header; behind it are
// the numbers of an answer, among them how many UTF-16 units each of its texts has, or a call's time. The texts themselves go behind each
// other as one string: V8 puts strings together faster than anything here could write their characters. `src/packed` is the other end.

/** Room for a page of the most events and more. An answer that has none goes as JSON. */
const SIZE = 1 << 14;
/** The header's numbers are half as long as the others. */
const HEADER = 16;
const FIRST = HEADER / 2;

const numbers = new Float64Array(SIZE);
const memory = numbers.buffer;
const header = new Int32Array(memory, 0, HEADER);

let end = FIRST;
/** How many UTF-16 units the texts may still have. */
let room = 0;
/** Whether the answer cannot be packed: something is not what it has to be, or too long. */
let failed = false;
/** Who uses the memory. Reading an answer may run code of the service, which may begin a call or another answer. */
let turn = 0;

/** The time that came with a call, or null. */
function time() {
  const value = numbers[FIRST];
  return Number.isNaN(value) ? null : value;
}

/** A call has come, with its numbers: an answer that was begun before is not whole any more. */
function callArrived() {
  turn++;
}

/** Begins an answer of at most so many UTF-16 units of text. Returns the turn, for `finish`. */
function begin(most) {
  end = FIRST;
  room = most;
  failed = false;
  return ++turn;
}

/** The answer's texts; undefined where it cannot be packed, or the memory was used meanwhile. */
function finish(begun, texts) {
  return failed || end > SIZE || begun !== turn ? undefined : texts;
}

function hasFailed() {
  return failed || end > SIZE;
}

/** Says whose answer it is, and where its response goes. */
function address(host, call, offset) {
  header[0] = end - FIRST;
  header[1] = host;
  header[2] = call;
  header[3] = offset;
}

/** The answer cannot be packed. Returns a text to go on with. */
function fail() {
  failed = true;
  return '';
}

/** A string, which is returned. */
function text(value) {
  if (typeof value !== 'string' || (room -= value.length) < 0) return fail();
  numbers[end++] = value.length;
  return value;
}

/** How many things follow, for `recount` to correct. Returns its place. */
function count(value) {
  numbers[end] = value;
  return end++;
}

function recount(place, value) {
  numbers[place] = value;
}

function flag(value) {
  if (typeof value !== 'boolean') failed = true;
  numbers[end++] = value ? 1 : 0;
}

/** A whole number. */
function number(value) {
  if (Number.isSafeInteger(value)) numbers[end++] = value;
  else failed = true;
}

/** A whole number, or undefined or null. */
function optional(value) {
  if (value === undefined || value === null) numbers[end++] = NaN;
  else number(value);
}

module.exports = { address, begin, callArrived, count, fail, finish, flag, hasFailed, header, memory, number, optional, recount, text, time };
