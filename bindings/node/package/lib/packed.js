'use strict';
// Calls as one string each, answers as bytes, as the native library's `packed` has them: crossing the border often, or with JSON,
// costs more than taking those apart.

const { Call } = require('./call');
const { DIGITS, digits } = require('./digits');
const freeJson = require('./json');
const { begin, closePairs, count, finish, flag, number, openPairs, optional, refuse, text } = require('./scratch');

/** By the character that a call begins with. */
const OPERATIONS = ['create_run', 'get_run', 'cancel_run', 'resolve_approval', 'resume_run', 'list_events'];
/** That character, and four numbers: the call's, and how long three parts are. */
const HEADER = 1 + 4 * DIGITS;

/** A call as `open` describes it: its number, what the service is told about it, and the request. */
function decode(opened, principal) {
  const hasInput = typeof opened !== 'string';
  const told = hasInput ? opened[0] : opened;
  const operation = OPERATIONS[told.charCodeAt(0) - 0x30];
  const key = HEADER + digits(told, 1 + DIGITS);
  const metadata = key + digits(told, 1 + 2 * DIGITS);
  const body = metadata + digits(told, 1 + 3 * DIGITS);
  const call = new Call(operation, told.slice(HEADER, key), told.slice(key, metadata), told.slice(metadata, body), principal);
  return { number: digits(told, 1), call, request: request(operation, told.slice(body), hasInput ? opened[1] : undefined) };
}

function request(operation, body, input) {
  if (operation === 'get_run') return { runId: body };
  const parsed = JSON.parse(body);
  return input === undefined ? parsed : freeJson.define(parsed, 'input', input);
}

/**
 * Packs an answer: how many bytes it has in the scratch's memory, or undefined where it has to go as JSON, whose faults have
 * names.
 */
function encode(operation, answer) {
  if (answer === null || typeof answer !== 'object') return undefined;
  switch (operation) {
    case 'get_run':
      return encodeRun(answer);
    case 'list_events':
      return encodePage(answer);
    default:
      return encodeSubmission(answer);
  }
}

function encodeSubmission(submission) {
  const begun = begin();
  text(submission.runId);
  number(submission.revision);
  text(submission.status);
  return finish(begun);
}

function encodeRun(run) {
  const begun = begin();
  text(run.runId);
  number(run.revision);
  text(run.status);
  context(run.context);
  time(run.createdAtUnixMs);
  time(run.updatedAtUnixMs);
  optional(run.completedAtUnixMs);
  approval(run.approval);
  free(run.resultJson, run.result, 'result', undefined);
  textOrNone(run.error);
  metadata(run.metadata);
  return finish(begun);
}

function context(value) {
  if (value === null || typeof value !== 'object') return refuse();
  text(value.runId);
  textOrNone(value.traceId);
  textOrNone(value.requestId);
  textOrNone(value.tenantId);
  textOrNone(value.userId);
  textOrNone(value.applicationId);
  textOrNone(value.workspaceId);
  textOrNone(value.conversationId);
  textOrNone(value.agentId);
  textOrNone(value.locale);
  optional(value.deadlineUnixMs);
  metadata(value.metadata);
}

function approval(value) {
  const given = value !== undefined && value !== null;
  flag(given);
  if (!given) return;
  if (typeof value !== 'object') return refuse();
  text(value.approvalId);
  text(value.toolCallId);
  text(value.toolName);
  text(value.resolution);
  textOrNone(value.reason);
  time(value.createdAtUnixMs);
  optional(value.resolvedAtUnixMs);
  metadata(value.metadata);
}

function encodePage(page) {
  const { events, nextSequence, hasMore = false } = page;
  if (!Array.isArray(events)) return undefined;
  const begun = begin();
  number(nextSequence);
  flag(hasMore);
  count(events.length);
  for (let index = 0; index < events.length; index++) event(events[index], index);
  return finish(begun);
}

function event(value, index) {
  if (value === null || typeof value !== 'object') return refuse();
  text(value.runId);
  number(value.sequence);
  text(value.type);
  text(value.status);
  textOrNone(value.stepId);
  textOrNone(value.toolCallId);
  time(value.timestampUnixMs);
  free(value.dataJson, value.data, 'data', index);
  metadata(value.metadata);
}

function textOrNone(value) {
  if (value === undefined || value === '') count(0);
  else text(value);
}

function time(value) {
  number(value === undefined ? 0 : value);
}

function metadata(value) {
  if (value === undefined) return count(0);
  if (!isPlain(value)) return refuse();
  const place = openPairs();
  let pairs = 0;
  for (const name in value) {
    if (!hasOwnProperty.call(value, name)) continue;
    text(name);
    text(value[name]);
    pairs++;
  }
  closePairs(place, pairs);
}

const { hasOwnProperty } = Object.prototype;

/** Whether JSON has of an object what its keys name. */
function isPlain(value) {
  return value !== null && typeof value === 'object' && value.constructor === Object && value.toJSON === undefined && !Array.isArray(value);
}

/** Free JSON, which is given as text or as a value: a run's, or that of an event. */
function free(json, value, name, index) {
  if (json !== undefined) return text(json);
  if (value === undefined || value === null) return text('null');
  text(JSON.stringify(value));
  const fault = freeJson.fault(value);
  if (fault !== undefined) freeJson.refuse(index === undefined ? name : `events.${index}.${name}`, fault);
}

module.exports = { decode, encode };
