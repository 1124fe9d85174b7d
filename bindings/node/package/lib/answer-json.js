'use strict';
// Answers on their way out as JSON, where they cannot be packed: their named members, so that nothing else of an object leaves, and free
// JSON that is given as text beside them. What the members may be is checked by the core.

const boundedJson = require('./bounded-json');
const check = require('./check');
const native = require('./native');

/** The names of each type's members, as the core has them. */
const MEMBERS = Object.fromEntries(native.members());

/** An event has more bytes than this, whatever is in it. */
const LEAST_EVENT = 40;

/** What a service answered to `operation`, as the core's `complete` takes it: `{ body, free }`. Neither has more than `most` bytes. */
function encode(operation, result, most) {
  if (result === null || typeof result !== 'object' || Array.isArray(result)) {
    throw new TypeError(`expected a result object, found ${check.kind(result)}${result === undefined ? '; did the method return it?' : ''}`);
  }
  switch (operation) {
    case 'get_run':
      return encodeRun(result, most);
    case 'list_events':
      return encodePage(result, most);
    default:
      return { body: boundedJson.stringify(pick(result, 'RunSubmission'), most, ''), free: undefined };
  }
}

function encodeRun(run, most) {
  const named = pick(run, 'RunView');
  named.context = pick(named.context, 'ExecutionContext');
  named.approval = pick(named.approval, 'ApprovalView');
  const text = run.resultJson;
  if (text === undefined) return { body: boundedJson.stringify(named, most, ''), free: undefined };
  named.result = undefined;
  return { body: boundedJson.stringify(named, most, ''), free: [check.json('resultJson', text, most)] };
}

function encodePage(page, most) {
  const { events, nextSequence, hasMore } = page;
  if (!Array.isArray(events)) throw new TypeError(`events: expected an array, found ${check.kind(events)}`);
  const { length } = events;
  if (length > most / LEAST_EVENT) throw new boundedJson.TooLong(most);
  let free;
  let left = most;
  const picked = [];
  for (let index = 0; index < length; index++) {
    const event = events[index];
    if (event === null || typeof event !== 'object') throw new TypeError(`events.${index}: expected an event object, found ${check.kind(event)}`);
    const named = pick(event, 'Event');
    picked.push(named);
    const text = event.dataJson;
    if (text === undefined) continue;
    named.data = undefined;
    (free ??= new Array(length).fill(null))[index] = check.json(`events.${index}.dataJson`, text, most);
    left -= text.length;
    if (left < 0) throw new boundedJson.TooLong(most);
  }
  return { body: boundedJson.stringify({ events: picked, nextSequence, hasMore }, most, ''), free };
}

/** The members that the contract names for a type. What is no object is the core's to refuse. */
function pick(value, type) {
  if (value === null || typeof value !== 'object') return value;
  const picked = {};
  for (const name of MEMBERS[type]) picked[name] = value[name];
  return picked;
}

/** An error that a service answered with, as the core's `completeError` takes it. No part of it has more than `most` bytes. */
function encodeError(error, most) {
  const { code, message, retryable, details, detailsJson, metadata } = error;
  return {
    code: check.text('code', code, most),
    message: check.text('message', message, most),
    retryable: retryable === true,
    details: encodeDetails(details, detailsJson, most),
    metadata: check.pairs('metadata', metadata, most),
  };
}

function encodeDetails(value, text, most) {
  if (text !== undefined) return check.json('detailsJson', text, most);
  return value === undefined ? undefined : boundedJson.stringify(value, most, 'details');
}

module.exports = { encode, encodeError };
