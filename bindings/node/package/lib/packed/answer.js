'use strict';
// Answers packed for the native library: one string, with numbers beside it, in the order of `src/packed/answer.rs`.

const boundedJson = require('../bounded-json');
const { begin, count, fail, finish, flag, hasFailed, number, optional, recount, text } = require('./numbers');

/**
 * Packs an answer whose response may have `most` bytes. Returns its texts, or undefined where it has to go as JSON, whose faults have
 * names; the numbers are in the memory for them.
 */
function encode(operation, answer, most) {
  if (answer === null || typeof answer !== 'object') return undefined;
  switch (operation) {
    case 'get_run':
      return encodeRun(answer, most);
    case 'list_events':
      return encodePage(answer, most);
    default:
      return encodeSubmission(answer, most);
  }
}

function encodeSubmission(submission, most) {
  const begun = begin(most);
  const runId = text(submission.runId);
  number(submission.revision);
  return finish(begun, runId + text(submission.status));
}

function encodeRun(run, most) {
  const begun = begin(most);
  let texts = text(run.runId);
  number(run.revision);
  texts += text(run.status);
  texts += context(run.context);
  timestamp(run.createdAtUnixMs);
  timestamp(run.updatedAtUnixMs);
  optional(run.completedAtUnixMs);
  texts += approval(run.approval);
  texts += free(run.resultJson, run.result, 'result', most);
  texts += textOrNone(run.error);
  texts += metadata(run.metadata);
  return finish(begun, texts);
}

function context(value) {
  if (value === null || typeof value !== 'object') return fail();
  let texts = text(value.runId);
  texts += textOrNone(value.traceId);
  texts += textOrNone(value.requestId);
  texts += textOrNone(value.tenantId);
  texts += textOrNone(value.userId);
  texts += textOrNone(value.applicationId);
  texts += textOrNone(value.workspaceId);
  texts += textOrNone(value.conversationId);
  texts += textOrNone(value.agentId);
  texts += textOrNone(value.locale);
  optional(value.deadlineUnixMs);
  return texts + metadata(value.metadata);
}

function approval(value) {
  const given = value !== undefined && value !== null;
  flag(given);
  if (!given) return '';
  if (typeof value !== 'object') return fail();
  let texts = text(value.approvalId);
  texts += text(value.toolCallId);
  texts += text(value.toolName);
  texts += text(value.resolution);
  texts += textOrNone(value.reason);
  timestamp(value.createdAtUnixMs);
  optional(value.resolvedAtUnixMs);
  return texts + metadata(value.metadata);
}

function encodePage(page, most) {
  const { events, nextSequence, hasMore = false } = page;
  if (!Array.isArray(events)) return undefined;
  const begun = begin(most);
  number(nextSequence);
  flag(hasMore);
  count(events.length);
  let texts = '';
  for (let index = 0; index < events.length && !hasFailed(); index++) texts += event(events[index], index, most);
  return finish(begun, texts);
}

function event(value, index, most) {
  if (value === null || typeof value !== 'object') return fail();
  let texts = text(value.runId);
  number(value.sequence);
  texts += text(value.type);
  texts += text(value.status);
  texts += textOrNone(value.stepId);
  texts += textOrNone(value.toolCallId);
  timestamp(value.timestampUnixMs);
  texts += free(value.dataJson, value.data, index, most);
  return texts + metadata(value.metadata);
}

function textOrNone(value) {
  return text(value === undefined ? '' : value);
}

function timestamp(value) {
  number(value === undefined ? 0 : value);
}

function metadata(value) {
  const place = count(0);
  if (value === undefined) return '';
  if (!isPlain(value)) return fail();
  let texts = '';
  let pairs = 0;
  for (const name in value) {
    if (!hasOwnProperty.call(value, name)) continue;
    texts += text(name);
    texts += text(value[name]);
    pairs++;
  }
  recount(place, pairs);
  return texts;
}

const { hasOwnProperty } = Object.prototype;

/** Whether JSON has of an object what its keys name. */
function isPlain(value) {
  return value !== null && typeof value === 'object' && value.constructor === Object && value.toJSON === undefined && !Array.isArray(value);
}

/** Free JSON, which is given as text or as a value: a run's result, or by its index the data of an event. */
function free(json, value, place, most) {
  if (json !== undefined) return text(json);
  if (value === undefined || value === null) return text('null');
  const plain = boundedJson.stringifyPlain(value, most);
  return text(plain ?? boundedJson.stringify(value, most, place === 'result' ? place : `events.${place}.data`));
}

module.exports = { encode };
