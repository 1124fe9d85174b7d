'use strict';
// Numbers in strings of the native library: five characters of seven bits each, the lowest first.

const DIGITS = 5;

/** The number at a place. */
function digits(told, at) {
  return (
    told.charCodeAt(at) + told.charCodeAt(at + 1) * 128 + told.charCodeAt(at + 2) * 16384 + told.charCodeAt(at + 3) * 2097152 + told.charCodeAt(at + 4) * 268435456
  );
}

module.exports = { DIGITS, digits };
