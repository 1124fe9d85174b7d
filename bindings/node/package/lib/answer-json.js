'use strict';
// Answers on their way out as JSON, where they cannot be packed: their named members, so that nothing else of an object leaves, and free
// JSON that is given as text beside them. What the members may be is checked by the core.

const boundedJson = require('./bounded-json');
const check = require('./check');

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
      return encodeSubmission(result, most);
  }
}

function encodeSubmission(submission, most) {
  const named = { runId: submission.runId, revision: finite(submission.revision, 'revision'), status: submission.status };
  return { body: boundedJson.stringify(named, most, ''), free: undefined };
}

function encodeRun(run, most) {
  const text = run.resultJson;
  const named = {
    runId: run.runId,
    revision: finite(run.revision, 'revision'),
    status: run.status,
    context: pickContext(run.context),
    createdAtUnixMs: finite(run.createdAtUnixMs, 'createdAtUnixMs'),
    updatedAtUnixMs: finite(run.updatedAtUnixMs, 'updatedAtUnixMs'),
    completedAtUnixMs: finite(run.completedAtUnixMs, 'completedAtUnixMs'),
    approval: pickApproval(run.approval),
    result: text === undefined ? run.result : undefined,
    error: run.error,
    metadata: run.metadata,
  };
  const free = text === undefined ? undefined : [check.json('resultJson', text, most)];
  return { body: boundedJson.stringify(named, most, ''), free };
}

function encodePage(page, most) {
  const { events } = page;
  if (!Array.isArray(events)) throw new TypeError(`events: expected an array, found ${check.kind(events)}`);
  const { length } = events;
  if (length > most / LEAST_EVENT) throw new boundedJson.TooLong(most);
  let free;
  let left = most;
  const picked = [];
  for (let index = 0; index < length; index++) {
    const event = events[index];
    const path = `events.${index}`;
    if (event === null || typeof event !== 'object') throw new TypeError(`${path}: expected an event object, found ${check.kind(event)}`);
    const text = event.dataJson;
    if (text !== undefined) {
      (free ??= new Array(length).fill(null))[index] = check.json(`${path}.dataJson`, text, most);
      left -= text.length;
      if (left < 0) throw new boundedJson.TooLong(most);
    }
    picked.push({
      runId: event.runId,
      sequence: finite(event.sequence, `${path}.sequence`),
      type: event.type,
      status: event.status,
      stepId: event.stepId,
      toolCallId: event.toolCallId,
      timestampUnixMs: finite(event.timestampUnixMs, `${path}.timestampUnixMs`),
      data: text === undefined ? event.data : undefined,
      metadata: event.metadata,
    });
  }
  const named = { events: picked, nextSequence: finite(page.nextSequence, 'nextSequence'), hasMore: page.hasMore };
  return { body: boundedJson.stringify(named, most, ''), free };
}

function pickContext(context) {
  if (context === null || typeof context !== 'object') return context;
  return {
    runId: context.runId,
    traceId: context.traceId,
    requestId: context.requestId,
    tenantId: context.tenantId,
    userId: context.userId,
    applicationId: context.applicationId,
    workspaceId: context.workspaceId,
    conversationId: context.conversationId,
    agentId: context.agentId,
    locale: context.locale,
    deadlineUnixMs: finite(context.deadlineUnixMs, 'context.deadlineUnixMs'),
    metadata: context.metadata,
  };
}

function pickApproval(approval) {
  if (approval === null || typeof approval !== 'object') return approval;
  return {
    approvalId: approval.approvalId,
    toolCallId: approval.toolCallId,
    toolName: approval.toolName,
    resolution: approval.resolution,
    reason: approval.reason,
    createdAtUnixMs: finite(approval.createdAtUnixMs, 'approval.createdAtUnixMs'),
    resolvedAtUnixMs: finite(approval.resolvedAtUnixMs, 'approval.resolvedAtUnixMs'),
    metadata: approval.metadata,
  };
}

/** Refuses NaN and infinities, which `JSON.stringify` would write as null. */
function finite(value, path) {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${path}: expected a number, found ${value}`);
  return value;
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
