'use strict';
// Free JSON in both of its forms: the exact text, and the value that JavaScript makes of it.

const { hasOwnProperty } = Object.prototype;
const { isAnyArrayBuffer, isArrayBufferView, isMap, isPromise, isRegExp, isSet, isWeakMap, isWeakSet } = require('node:util').types;

/**
 * Gives `target` the member `name`, parsed when it is first read, and `${name}Json`, the text. The text is not enumerable:
 * copies and `JSON.stringify` see the value alone. Setting the member drops the text.
 */
function define(target, name, text) {
  const { key, accessor } = (MEMBERS[name] ??= member(name));
  Object.defineProperty(target, name, accessor);
  Object.defineProperty(target, `${name}Json`, hidden(text));
  Object.defineProperty(target, key, hidden({ target, text, value: undefined, parsed: false }));
  return target;
}

function hidden(value) {
  return { value, enumerable: false, configurable: true, writable: true };
}

const MEMBERS = {};

/**
 * How a member of that name is read and set: the same functions for all objects, which find what they need in the object. V8 keeps
 * accessors among what is old; whatever they held themselves would live until the next full collection.
 */
function member(name) {
  const key = Symbol(name);
  const accessor = {
    enumerable: true,
    configurable: true,
    get() {
      const state = this[key];
      if (!state.parsed) {
        state.value = JSON.parse(state.text);
        state.parsed = true;
      }
      return state.value;
    },
    set(value) {
      const { target } = this[key];
      delete target[`${name}Json`];
      Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
    },
  };
  return { key, accessor };
}

/** Refuses what `fault` finds. */
function checkFaithful(value, path) {
  const found = fault(value);
  if (found !== undefined) refuse(path, found);
}

function refuse(path, { at, what }) {
  throw new TypeError(`${path}${at}: expected JSON, found ${what}`);
}

/**
 * What `JSON.stringify` would change without a word: NaN and infinities, functions, undefined in arrays, and built-in objects that
 * it writes as `{}`. Asked after `JSON.stringify`, which has found cycles and BigInts. Undefined where there is nothing.
 */
function fault(value) {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? undefined : { at: '', what: String(value) };
    case 'function':
    case 'symbol':
      return { at: '', what: `a ${typeof value}` };
    case 'object':
      return value === null || typeof value.toJSON === 'function' ? undefined : faultInside(value);
    default:
      return undefined;
  }
}

function faultInside(value) {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const element = value[index];
      const found = element === undefined ? { at: '', what: 'undefined' } : typeof element === 'string' ? undefined : fault(element);
      if (found !== undefined) return inside(index, found);
    }
    return undefined;
  }
  if (value.constructor !== Object && isOpaque(value)) return { at: '', what: `a ${value.constructor?.name ?? 'built-in object'}` };
  for (const name in value) {
    const member = value[name];
    if (typeof member === 'string' || member === undefined || !hasOwnProperty.call(value, name)) continue;
    const found = fault(member);
    if (found !== undefined) return inside(name, found);
  }
  return undefined;
}

function inside(name, { at, what }) {
  return { at: `.${name}${at}`, what };
}

/** Whether the contents of an object are not in its members. */
function isOpaque(value) {
  return [isMap, isSet, isWeakMap, isWeakSet, isRegExp, isPromise, isAnyArrayBuffer, isArrayBufferView].some((is) => is(value));
}

module.exports = { checkFaithful, define, fault, refuse };
