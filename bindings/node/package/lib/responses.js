'use strict';
// Where the native library writes responses: a piece of memory that small ones share, as those of `Buffer.from` do.

const SIZE = 16384;
/** With less room than this a new piece is begun. */
const LEAST = 2048;

let piece = Buffer.allocUnsafeSlow(SIZE);
let end = 0;

/** The memory to write to. */
function place() {
  if (SIZE - end < LEAST) {
    piece = Buffer.allocUnsafeSlow(SIZE);
    end = 0;
  }
  return piece.buffer;
}

/** How many of its bytes are taken, after `place`. */
function used() {
  return end;
}

/** Takes what was written. */
function take(length) {
  const response = piece.subarray(end, end + length);
  end += length;
  return response;
}

module.exports = { place, take, used };
