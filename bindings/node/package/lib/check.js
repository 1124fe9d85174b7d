'use strict';
// What JavaScript itself has to look at before a value crosses the border: its type, the spelling of options, and whether
// text is text. What a value may be is the core's to say.

const { types } = require('node:util');
const signals = require('./abort-signals');
const { TooLong } = require('./bounded-json');
const native = require('./native');

/** What memory a typed array is a view of; a member of its own with that name is not asked. */
const { get: bufferOf } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), 'buffer');

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

/** A whole number of at least `least`, or undefined. */
function whole(where, value, least) {
  if (value === undefined) return undefined;
  if (typeof value !== 'number') throw new TypeError(`${where}: expected a number, found ${kind(value)}`);
  if (!Number.isSafeInteger(value) || value < least) throw new RangeError(`${where}: expected a whole number of at least ${least}, found ${value}`);
  return value;
}

/** A string that UTF-8 can hold: native code would put another character in a lone surrogate's place. */
function text(where, value, most = Infinity) {
  if (typeof value !== 'string') throw new TypeError(`${where}: expected a string, found ${kind(value)}`);
  if (value.length > most) throw new TooLong(most);
  if (!value.isWellFormed()) throw new TypeError(`${where}: expected text, found a lone surrogate in it`);
  return value;
}

/** An array of texts; none where it is undefined. */
function texts(where, values) {
  if (values === undefined) return [];
  if (!Array.isArray(values)) throw new TypeError(`${where}: expected an array of strings, found ${kind(values)}`);
  return Array.from(values, (value, index) => text(`${where}.${index}`, value));
}

/** JSON text. A lone surrogate becomes the escape that means the same, so that the core sees it and refuses it. */
function json(where, value, most = Infinity) {
  if (typeof value !== 'string') throw new TypeError(`${where}: expected JSON text as a string, found ${kind(value)}`);
  if (value.length > most) throw new TooLong(most);
  return escaped(value);
}

function escaped(value) {
  if (value.isWellFormed()) return value;
  return value.replace(/\p{Surrogate}/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}

/** The names and values of metadata in turn. */
function pairs(where, metadata, most = Infinity) {
  if (metadata === undefined) return [];
  if (metadata === null || typeof metadata !== 'object') throw new TypeError(`${where}: expected an object of strings, found ${kind(metadata)}`);
  let left = most;
  const texts = [];
  for (const name of Object.keys(metadata)) {
    const value = text(`${where}.${name}`, metadata[name], most);
    left -= name.length + value.length;
    if (left < 0) throw new TooLong(most);
    texts.push(text(`the name ${JSON.stringify(name)} in ${where}`, name), value);
  }
  return texts;
}

/** A signal, or undefined. */
function signal(where, value) {
  if (value === undefined || signals.is(value)) return value;
  throw new TypeError(`${where}: expected an AbortSignal, found ${kind(value)}`);
}

/**
 * Whom the transport authenticated, or undefined where the option is not there. That it is there and has no value is a mistake: the call
 * would go on as nobody's, which may see more than anybody's.
 */
function principal(where, options) {
  if (!('principal' in options)) return undefined;
  const value = options.principal;
  if (typeof value === 'string') return text(`${where}: principal`, value);
  throw new TypeError(`${where}: principal: expected a string, found ${kind(value)}; leave the option out where nobody is authenticated`);
}

/** A function, or undefined. */
function callback(where, value) {
  if (value !== undefined && typeof value !== 'function') throw new TypeError(`${where}: expected a function, found ${kind(value)}`);
  return value;
}

/** The limits that every host has, with their defaults. */
function limits(where, { maxMessageBytes, sensitiveNames, requirePrincipal = false }) {
  const most = whole(`${where}: maxMessageBytes`, maxMessageBytes, 1) ?? native.defaultMaxMessageBytes();
  const names = texts(`${where}: sensitiveNames`, sensitiveNames);
  if (typeof requirePrincipal !== 'boolean') throw new TypeError(`${where}: requirePrincipal: expected a boolean, found ${kind(requirePrincipal)}`);
  return { maxMessageBytes: most, sensitiveNames: names, requirePrincipal };
}

/** A message as a string or bytes that nobody else can change. */
function message(where, data) {
  if (typeof data === 'string') return escaped(data);
  if (!types.isUint8Array(data)) {
    const what = kind(data);
    throw new TypeError(`${where}: expected a message as a Uint8Array or a string, found ${what}${what === 'an object' ? '; pass JSON text' : ''}`);
  }
  // Another thread may write into shared memory while it is read.
  return types.isSharedArrayBuffer(bufferOf.call(data)) ? new Uint8Array(data) : data;
}

/** A message as bytes that nobody else can change. */
function messageBytes(where, data) {
  const checked = message(where, data);
  return typeof checked === 'string' ? Buffer.from(checked) : checked;
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

module.exports = { LONGEST_DELAY_MS, callback, delay, json, kind, limits, message, messageBytes, options, pairs, principal, signal, text, texts, whole };
