'use strict';
// Calls and answers as one string each, with numbers beside it, as the native library's `packed` has them: crossing the border often,
// or with JSON, costs more than taking those apart.

const { Call, pairs } = require('./call');
const freeJson = require('./json');
const { arrived, begin, count, finish, flag, header, number, optional, recount, refuse, text, time } = require('./scratch');

/** By the character that a call begins with. */
const OPERATIONS = ['create_run', 'get_run', 'cancel_run', 'resolve_approval', 'resume_run', 'list_events'];

/** A call as `open` describes it: its number, what the service is told about it, and the request. */
function decode(opened, principal) {
  arrived();
  const hasInput = typeof opened !== 'string';
  const told = hasInput ? opened[0] : opened;
  const operation = OPERATIONS[told.charCodeAt(0) - 0x30];
  const number = header[0];
  const key = 1 + header[1];
  const metadata = key + header[2];
  const body = metadata + header[3];
  const call = new Call(operation, told.slice(1, key), told.slice(key, metadata), told.slice(metadata, body), principal);
  return { number, call, request: request(operation, told, body, hasInput ? opened[1] : undefined) };
}

function request(operation, told, body, input) {
  if (operation === 'get_run') return { runId: told.slice(body) };
  if (operation === 'create_run') return createRun(told, body, input);
  const parsed = JSON.parse(told.slice(body));
  return input === undefined ? parsed : freeJson.define(parsed, 'input', input);
}

function createRun(told, body, input) {
  let part = 4;
  let end = body;
  const next = () => {
    const start = end;
    end += header[part++];
    return told.slice(start, end);
  };
  const context = {
    runId: next(),
    traceId: next(),
    requestId: next(),
    tenantId: next(),
    userId: next(),
    applicationId: next(),
    workspaceId: next(),
    conversationId: next(),
    agentId: next(),
    locale: next(),
    deadlineUnixMs: time(),
    metadata: pairs(next()),
  };
  const created = freeJson.define({ context }, 'input', input);
  created.metadata = pairs(next());
  return created;
}

/** Packs an answer: its texts, or undefined where it has to go as JSON, whose faults have names. The numbers are in the scratch. */
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
  const runId = text(submission.runId);
  number(submission.revision);
  return finish(begun, runId + text(submission.status));
}

function encodeRun(run) {
  const begun = begin();
  let texts = text(run.runId);
  number(run.revision);
  texts += text(run.status);
  texts += context(run.context);
  timestamp(run.createdAtUnixMs);
  timestamp(run.updatedAtUnixMs);
  optional(run.completedAtUnixMs);
  texts += approval(run.approval);
  texts += free(run.resultJson, run.result, 'result', undefined);
  texts += textOrNone(run.error);
  texts += metadata(run.metadata);
  return finish(begun, texts);
}

function context(value) {
  if (value === null || typeof value !== 'object') return refuse();
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
  if (typeof value !== 'object') return refuse();
  let texts = text(value.approvalId);
  texts += text(value.toolCallId);
  texts += text(value.toolName);
  texts += text(value.resolution);
  texts += textOrNone(value.reason);
  timestamp(value.createdAtUnixMs);
  optional(value.resolvedAtUnixMs);
  return texts + metadata(value.metadata);
}

function encodePage(page) {
  const { events, nextSequence, hasMore = false } = page;
  if (!Array.isArray(events)) return undefined;
  const begun = begin();
  number(nextSequence);
  flag(hasMore);
  count(events.length);
  let texts = '';
  for (let index = 0; index < events.length; index++) texts += event(events[index], index);
  return finish(begun, texts);
}

function event(value, index) {
  if (value === null || typeof value !== 'object') return refuse();
  let texts = text(value.runId);
  number(value.sequence);
  texts += text(value.type);
  texts += text(value.status);
  texts += textOrNone(value.stepId);
  texts += textOrNone(value.toolCallId);
  timestamp(value.timestampUnixMs);
  texts += free(value.dataJson, value.data, 'data', index);
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
  if (!isPlain(value)) return refuse();
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

/** Free JSON, which is given as text or as a value: a run's, or that of an event. */
function free(json, value, name, index) {
  if (json !== undefined) return text(json);
  if (value === undefined || value === null) return text('null');
  const texts = text(JSON.stringify(value));
  const fault = freeJson.fault(value);
  if (fault !== undefined) freeJson.refuse(index === undefined ? name : `events.${index}.${name}`, fault);
  return texts;
}

module.exports = { decode, encode };
