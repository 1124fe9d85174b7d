'use strict';
// JSON.stringify for values of the application. It stops at a limit: few objects that refer to each other often may be endless as text.
// And it refuses what JSON.stringify would change without a word.

const { isAnyArrayBuffer, isArrayBufferView, isBoxedPrimitive, isDate, isMap, isPromise, isRegExp, isSet, isWeakMap, isWeakSet } = require('node:util').types;
const { getPrototypeOf, prototype: objectPrototype } = Object;
const { hasOwnProperty } = objectPrototype;
const dateToJson = Date.prototype.toJSON;

/** What nests deeper is left to JSON.stringify, which finds out whether it is a circle. */
const DEEPEST = 200;
/** What `measure` returns for a value that it cannot measure. A text that is too long leaves less than nothing, but more than these. */
const UNFAITHFUL = -(2 ** 31) + 1;
const WRITES_ITSELF = -(2 ** 31) + 2;

/** JSON text would be longer than it may be. */
class TooLong extends RangeError {
  constructor(most) {
    super(`expected at most ${most} bytes of JSON, found more`);
  }
}

/**
 * The text of a value; `undefined` has none. `path` names the value in messages.
 *
 * Throws for a text that has certainly more than `most` bytes; for NaN and infinities, functions, symbols, `undefined` in arrays, and
 * built-in objects that JSON.stringify writes as `{}`; for what JSON.stringify throws, and what code of the application throws.
 */
function stringify(value, most, path) {
  const left = measure(value, most, 0);
  if (left >= 0) return JSON.stringify(value);
  if (left > WRITES_ITSELF) throw new TooLong(most);
  const found = left === UNFAITHFUL ? find(value) : undefined;
  if (found !== undefined) refuse(path, found);
  return stringifyWatched(value, most, path);
}

/** The text of a plain value, as `stringify` has it. Undefined: it is none, and `stringify` finds out why. */
function stringifyPlain(value, most) {
  return measure(value, most, 0) >= 0 ? JSON.stringify(value) : undefined;
}

/**
 * How many bytes of `room` are left when the value is written, at the most: each UTF-16 unit takes a byte or more. Negative: nothing is, or
 * JSON.stringify has to be watched. It is far faster than a writer in JavaScript, so the value is measured before it is written.
 */
function measure(value, room, depth) {
  switch (typeof value) {
    case 'string':
      return room - value.length - 2;
    case 'number':
      return Number.isFinite(value) ? room - 1 : UNFAITHFUL;
    case 'boolean':
      return room - 4;
    case 'function':
    case 'symbol':
      return UNFAITHFUL;
    case 'object':
      return value === null ? room - 4 : measureObject(value, room, depth);
    default:
      // JSON.stringify refuses a BigInt, and has nothing for undefined.
      return room;
  }
}

function measureObject(value, room, depth) {
  if (room < 0) return room;
  if (depth === DEEPEST) return WRITES_ITSELF;
  if (typeof value.toJSON === 'function') return isDate(value) && value.toJSON === dateToJson ? room - 4 : WRITES_ITSELF;
  if (Array.isArray(value)) return measureArray(value, room, depth);
  const isPlain = getPrototypeOf(value) === objectPrototype;
  if (!isPlain) {
    if (isOpaque(value)) return UNFAITHFUL;
    if (isBoxedPrimitive(value)) return WRITES_ITSELF;
  }
  // A bracket, and for each member two quotation marks, a colon, and a comma or the other bracket.
  let left = room - 1;
  for (const name in value) {
    if (!isPlain && !hasOwnProperty.call(value, name)) continue;
    const member = value[name];
    if (typeof member === 'string') left -= name.length + member.length + 6;
    else if (member !== undefined) left = measure(member, left - name.length - 4, depth + 1);
    if (left < 0) return left;
  }
  return left;
}

function measureArray(value, room, depth) {
  let left = room - 1;
  for (let index = 0; index < value.length; index++) {
    const element = value[index];
    if (element === undefined) return UNFAITHFUL;
    left = measure(element, left - 1, depth + 1);
    if (left < 0) return left;
  }
  return left;
}

/** Whether the contents of an object are not in its members. */
function isOpaque(value) {
  return (
    isMap(value) || isSet(value) || isWeakMap(value) || isWeakSet(value) || isRegExp(value) || isPromise(value) || isAnyArrayBuffer(value) || isArrayBufferView(value)
  );
}

/** Writes a value parts of which say themselves how they are written: whatever they say is looked at while it is written. */
function stringifyWatched(value, most, path) {
  let room = most;
  return JSON.stringify(value, function watch(name, member) {
    const what = ownFault(member) ?? (member === undefined && Array.isArray(this) ? 'undefined' : undefined);
    if (what !== undefined) refuse(path, { at: name === '' ? '' : `.${name}`, what });
    if (member === undefined) return undefined;
    room -= (Array.isArray(this) ? 1 : name.length) + ownLength(member);
    if (room < 0) throw new TooLong(most);
    return member;
  });
}

/** How many bytes a value itself takes at the least, whatever is in it. */
function ownLength(value) {
  if (typeof value === 'string') return value.length;
  return isBoxedPrimitive(value) ? JSON.stringify(value).length : 1;
}

/** What is wrong with a value itself, whatever is in it. */
function ownFault(value) {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? undefined : String(value);
    case 'function':
    case 'symbol':
      return `a ${typeof value}`;
    case 'object':
      return value !== null && !Array.isArray(value) && isOpaque(value) ? `a ${value.constructor?.name ?? 'built-in object'}` : undefined;
    default:
      return undefined;
  }
}

/** Where in a value the fault is that `measure` has met, looking in the same order. Undefined: it is in no member of its own. */
function find(value) {
  const what = ownFault(value);
  if (what !== undefined) return { at: '', what };
  if (value === null || typeof value !== 'object' || typeof value.toJSON === 'function') return undefined;
  const inArray = Array.isArray(value);
  for (const name of inArray ? value.keys() : Object.keys(value)) {
    const member = value[name];
    if (member === undefined && inArray) return { at: `.${name}`, what: 'undefined' };
    const found = find(member);
    if (found !== undefined) return { at: `.${name}${found.at}`, what: found.what };
  }
  return undefined;
}

function refuse(path, found) {
  const at = `${path}${found.at}`;
  throw new TypeError(`${at.startsWith('.') ? at.slice(1) : at}: expected JSON, found ${found.what}`);
}

module.exports = { TooLong, stringify, stringifyPlain };
