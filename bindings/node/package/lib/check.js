'use strict';
// What JavaScript itself has to look at before a value crosses the border: its type, the spelling of options, and whether
// text is text. What a value may be is the core's to say.

const { types } = require('node:util');
const native = require('./native');

/** The longest delay that a timer takes, in milliseconds: 2^31 - 1, about 24 days. */
const LONGEST_DELAY_MS = 2147483647;

/** Refuses options that are not an object, and names that nobody knows. */
function options(where, given, known) {
  if (given === undefined) return {};
  if (given === null || typeof given !== 'object') throw new TypeError(`${where}: expected options as an object, found ${kind(given)}`);
  for (const name of Object.keys(given)) {
    if (!known.includes(name)) throw new TypeError(`${where}: unknown option "${name}"; known are ${known.join(', ')}`);
  }
  return given;
}

/** A delay in milliseconds, or undefined. */
function delay(where, value) {
  if (value === undefined) return undefined;
  if (typeof value !== 'number') throw new TypeError(`${where}: expected milliseconds as a number, found ${kind(value)}`);
  if (!(value >= 0 && value <= LONGEST_DELAY_MS)) throw new RangeError(`${where}: expected 0 to ${LONGEST_DELAY_MS} ms, found ${value}`);
  return value;
}

/** A whole number of at least `least`. */
function whole(where, value, least) {
  if (typeof value !== 'number') throw new TypeError(`${where}: expected a number, found ${kind(value)}`);
  if (!Number.isSafeInteger(value) || value < least) throw new RangeError(`${where}: expected a whole number of at least ${least}, found ${value}`);
  return value;
}

/** A string that UTF-8 can hold: native code would put another character in a lone surrogate's place. */
function text(where, value) {
  if (typeof value !== 'string') throw new TypeError(`${where}: expected a string, found ${kind(value)}`);
  if (!value.isWellFormed()) throw new TypeError(`${where}: expected text, found a lone surrogate in it`);
  return value;
}

/** JSON text. A lone surrogate becomes the escape that means the same, so that the core sees it and refuses it. */
function json(where, value) {
  if (typeof value !== 'string') throw new TypeError(`${where}: expected JSON text as a string, found ${kind(value)}`);
  return escaped(value);
}

function escaped(value) {
  if (value.isWellFormed()) return value;
  return value.replace(/\p{Surrogate}/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}

/** The names and values of metadata in turn. */
function pairs(where, metadata) {
  if (metadata === undefined) return [];
  if (metadata === null || typeof metadata !== 'object') throw new TypeError(`${where}: expected an object of strings, found ${kind(metadata)}`);
  return Object.entries(metadata).flatMap(([name, value]) => [text(`the name ${JSON.stringify(name)} in ${where}`, name), text(`${where}.${name}`, value)]);
}

/** A signal, or undefined. */
function signal(where, value) {
  if (value === undefined || value instanceof AbortSignal) return value;
  if (typeof value?.addEventListener === 'function' && typeof value.aborted === 'boolean') return value;
  throw new TypeError(`${where}: expected an AbortSignal, found ${kind(value)}`);
}

/** A function, or undefined. */
function callback(where, value) {
  if (value !== undefined && typeof value !== 'function') throw new TypeError(`${where}: expected a function, found ${kind(value)}`);
  return value;
}

/** The limits that every host has, with their defaults. */
function limits(where, { maxMessageBytes, sensitiveNames = [], requirePrincipal = false }) {
  const most = maxMessageBytes === undefined ? native.defaultMaxMessageBytes() : whole(`${where}: maxMessageBytes`, maxMessageBytes, 1);
  if (!Array.isArray(sensitiveNames)) throw new TypeError(`${where}: sensitiveNames: expected an array of strings, found ${kind(sensitiveNames)}`);
  const names = sensitiveNames.map((name, index) => text(`${where}: sensitiveNames.${index}`, name));
  if (typeof requirePrincipal !== 'boolean') throw new TypeError(`${where}: requirePrincipal: expected a boolean, found ${kind(requirePrincipal)}`);
  return { maxMessageBytes: most, sensitiveNames: names, requirePrincipal };
}

/**
 * Binds a host's methods, so that they can be handed on as they are. As its own members they also make a structured clone fail:
 * without them `postMessage(host)` would arrive as `{}`.
 */
function bind(host) {
  for (const name of ['dispatchJson', 'dispatchJsonSync', 'close']) host[name] = host[name].bind(host);
}

/** A message as a string or bytes that nobody else can change. */
function message(where, data) {
  if (typeof data === 'string') return escaped(data);
  if (!types.isUint8Array(data)) {
    throw new TypeError(`${where}: expected a message as a Uint8Array or a string, found ${kind(data)}${data?.constructor === Object ? '; pass JSON text' : ''}`);
  }
  // Another thread may write into shared memory while it is read.
  return types.isSharedArrayBuffer(data.buffer) ? new Uint8Array(data) : data;
}

/** What a value is, for people, without anything of what is in it. */
function kind(value) {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (types.isPromise(value)) return 'a promise; await it first';
  switch (typeof value) {
    case 'undefined':
      return 'undefined';
    case 'number':
      return Number.isFinite(value) ? 'a number' : String(value);
    case 'object':
      return 'an object';
    default:
      return `a ${typeof value}`;
  }
}

module.exports = { LONGEST_DELAY_MS, bind, callback, delay, json, kind, limits, message, options, pairs, signal, text, whole };
