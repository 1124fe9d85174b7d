'use strict';
// Calls and answers as one string each, as the native library's `packed.rs` has them: crossing the border often, or with JSON,
// costs more than taking a string apart.

const { Call } = require('./call');
const freeJson = require('./json');

/** By the character that a call begins with. */
const OPERATIONS = ['create_run', 'get_run', 'cancel_run', 'resolve_approval', 'resume_run', 'list_events'];
const HEADER = 21;

/** A number in five characters of seven bits each, the lowest first. */
function number(told, at) {
  return (
    told.charCodeAt(at) + told.charCodeAt(at + 1) * 128 + told.charCodeAt(at + 2) * 16384 + told.charCodeAt(at + 3) * 2097152 + told.charCodeAt(at + 4) * 268435456
  );
}

/** A call as `open` describes it. */
function callNumber(opened) {
  return number(typeof opened === 'string' ? opened : opened[0], 1);
}

/** What the service is told about it, and the request. */
function decode(opened, principal) {
  const hasInput = typeof opened !== 'string';
  const told = hasInput ? opened[0] : opened;
  const operation = OPERATIONS[told.charCodeAt(0) - 0x30];
  const key = HEADER + number(told, 6);
  const metadata = key + number(told, 11);
  const body = metadata + number(told, 16);
  const call = new Call(operation, told.slice(HEADER, key), told.slice(key, metadata), told.slice(metadata, body), principal);
  if (operation === 'get_run') return { call, request: { runId: told.slice(body) } };
  const request = JSON.parse(told.slice(body));
  if (hasInput) freeJson.define(request, 'input', opened[1]);
  return { call, request };
}

/** Between the parts of an answer, and behind the last. */
const END = '\u0001';

/** Set by the functions below when a part is not what it has to be: the answer goes as JSON then, whose faults have names. */
let odd;

function text(value) {
  if (typeof value === 'string') return value;
  if (value !== undefined) odd = true;
  return '';
}

function integer(value) {
  if (typeof value !== 'number') odd = true;
  return value;
}

function optional(value) {
  return value === undefined || value === null ? '' : integer(value);
}

/** How many pairs the metadata last looked at has. */
let pairs;

function metadata(value) {
  pairs = 0;
  if (value === undefined) return '';
  if (!isPlain(value)) {
    odd = true;
    return '';
  }
  let parts = '';
  for (const name in value) {
    const member = value[name];
    if (typeof member !== 'string') odd = true;
    parts += name + END + member + END;
    pairs++;
  }
  return parts;
}

function isPlain(value) {
  if (value === null || typeof value !== 'object') return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** An answer to be packed, or undefined where it has to go as JSON. */
function encode(operation, answer) {
  if (answer === null || typeof answer !== 'object') return undefined;
  switch (operation) {
    case 'get_run':
      return encodeRun(answer);
    case 'list_events':
      return undefined;
    default: {
      const { runId, revision, status } = answer;
      if (typeof runId !== 'string' || typeof status !== 'string' || typeof revision !== 'number') return undefined;
      return wellFormed(runId + END + revision + END + status + END);
    }
  }
}

function encodeRun(run) {
  const { runId, status, context, approval, resultJson } = run;
  if (typeof runId !== 'string' || typeof status !== 'string' || context === null || typeof context !== 'object') return undefined;
  if ((approval !== undefined && approval !== null) || (resultJson !== undefined && typeof resultJson !== 'string')) return undefined;
  odd = false;
  const ofContext = metadata(context.metadata);
  const contextPairs = pairs;
  const ofRun = metadata(run.metadata);
  const runPairs = pairs;
  const { createdAtUnixMs = 0, updatedAtUnixMs = 0 } = run;
  const head = contextPairs + END + runPairs + END + runId + END + integer(run.revision) + END + status + END;
  const where =
    text(context.runId) + END + text(context.traceId) + END + text(context.requestId) + END + text(context.tenantId) + END + text(context.userId) + END +
    text(context.applicationId) + END + text(context.workspaceId) + END + text(context.conversationId) + END + text(context.agentId) + END +
    text(context.locale) + END + optional(context.deadlineUnixMs) + END + ofContext;
  const times = integer(createdAtUnixMs) + END + integer(updatedAtUnixMs) + END + optional(run.completedAtUnixMs) + END;
  const error = text(run.error);
  if (odd) return undefined;
  return wellFormed(head + where + times + (resultJson ?? free(run.result)) + END + error + END + ofRun);
}

function free(result) {
  if (result === undefined || result === null) return 'null';
  const json = JSON.stringify(result);
  if (typeof result === 'object') freeJson.checkFaithful(result, 'result');
  return json;
}

/** The border would put another character in a lone surrogate's place. */
function wellFormed(packed) {
  return packed.isWellFormed() ? packed : undefined;
}

module.exports = { callNumber, decode, encode };
