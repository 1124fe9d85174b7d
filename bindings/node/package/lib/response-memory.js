'use strict';
// Where the native library writes responses: a piece of memory that small ones share, as those of `Buffer.from` do.

const { markAsUntransferable } = require('node:worker_threads');

const SIZE = 16384;
/** With less room than this a new piece is begun. */
const LEAST = 2048;

/** What `subarray` of a Buffer makes, by the standard's own rule. */
const Slice = Buffer[Symbol.species];

let piece = newPiece();
let end = 0;

/** Nobody can give it away together with a response in it: the others would lose theirs. */
function newPiece() {
  const memory = new ArrayBuffer(SIZE);
  markAsUntransferable(memory);
  return memory;
}

/** The memory to write to. */
function place() {
  if (SIZE - end < LEAST) {
    piece = newPiece();
    end = 0;
  }
  return piece;
}

/** How many of its bytes are taken, after `place`. */
function used() {
  return end;
}

/** Takes what was written. */
function take(length) {
  const response = new Slice(piece, end, length);
  end += length;
  return response;
}

module.exports = { place, take, used };
