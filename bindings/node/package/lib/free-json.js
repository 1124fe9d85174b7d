'use strict';
// Free JSON in both of its forms: the exact text, and the value that JavaScript makes of it.

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

module.exports = { define };
