'use strict';
// Metadata of a call as one string: each name and each value behind its length.

/** A length takes so many characters, of seven bits each, the lowest first. */
const LENGTH_DIGITS = 5;

/** The object of names and values that a string holds. */
function parse(packed) {
  const object = {};
  let at = 0;
  const next = () => {
    const start = at + LENGTH_DIGITS;
    at = start + lengthAt(packed, at);
    return packed.slice(start, at);
  };
  while (at < packed.length) {
    const name = next();
    const value = next();
    // As JSON.parse does: a member of its own, whatever the name.
    if (name === '__proto__') Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
    else object[name] = value;
  }
  return object;
}

function lengthAt(packed, at) {
  return (
    packed.charCodeAt(at) +
    packed.charCodeAt(at + 1) * 128 +
    packed.charCodeAt(at + 2) * 16384 +
    packed.charCodeAt(at + 3) * 2097152 +
    packed.charCodeAt(at + 4) * 268435456
  );
}

module.exports = { parse };
