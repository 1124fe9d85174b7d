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
  keepApart(target);
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

const [FIRST, SECOND] = [Symbol('first'), Symbol('second')];

/**
 * Has V8 keep an object's members in the object. It would else keep an accessor in a hidden class, one for each object, and the
 * closures with the parsed value would live until the next full collection. Taking a member away that is not the last does it.
 */
function keepApart(object) {
  object[FIRST] = object[SECOND] = undefined;
  delete object[FIRST];
  delete object[SECOND];
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
    if (typeof member === 'string' || member === undefined || !Object.hasOwn(value, name)) continue;
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
