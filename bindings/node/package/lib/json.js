'use strict';
// Free JSON in both of its forms: the exact text, and the value that JavaScript makes of it.

const { isAnyArrayBuffer, isArrayBufferView, isMap, isPromise, isRegExp, isSet, isWeakMap, isWeakSet } = require('node:util').types;

/**
 * Gives `target` the member `name`, parsed when it is first read, and `${name}Json`, the text. The text is not enumerable:
 * copies and `JSON.stringify` see the value alone. Setting the member drops the text.
 */
function define(target, name, text) {
  const textName = `${name}Json`;
  let parsed = false;
  let value;
  Object.defineProperty(target, textName, { value: text, enumerable: false, configurable: true, writable: true });
  Object.defineProperty(target, name, {
    enumerable: true,
    configurable: true,
    get() {
      if (!parsed) {
        value = JSON.parse(text);
        parsed = true;
      }
      return value;
    },
    set(other) {
      delete target[textName];
      Object.defineProperty(target, name, { value: other, enumerable: true, configurable: true, writable: true });
    },
  });
  return target;
}

/**
 * Refuses what `JSON.stringify` would change without a word: NaN and infinities, functions, undefined in arrays, and built-in
 * objects that it writes as `{}`. It is called after `JSON.stringify`, which has found cycles and BigInts.
 */
function checkFaithful(value, path) {
  switch (typeof value) {
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`${path}: expected JSON, found ${value}`);
      return;
    case 'function':
    case 'symbol':
      throw new TypeError(`${path}: expected JSON, found a ${typeof value}`);
    case 'object':
      break;
    default:
      return;
  }
  if (value === null || typeof value.toJSON === 'function') return;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const element = value[index];
      if (element === undefined) throw new TypeError(`${path}.${index}: expected JSON, found undefined`);
      if (typeof element !== 'string') checkFaithful(element, `${path}.${index}`);
    }
    return;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null && isOpaque(value)) {
    throw new TypeError(`${path}: expected JSON, found a ${value.constructor?.name ?? 'built-in object'}`);
  }
  for (const name in value) {
    const member = value[name];
    if (typeof member !== 'string' && member !== undefined && Object.hasOwn(value, name)) checkFaithful(member, `${path}.${name}`);
  }
}

/** Whether the contents of an object are not in its members. */
function isOpaque(value) {
  return [isMap, isSet, isWeakMap, isWeakSet, isRegExp, isPromise, isAnyArrayBuffer, isArrayBufferView].some((is) => is(value));
}

module.exports = { checkFaithful, define };
