'use strict';
// Results on their way out: their named members as JSON text, so that nothing else of an object leaves, and free JSON that is
// given as text beside it. What the members may be is checked by the core.

const check = require('./check');
const { checkFaithful } = require('./json');

/** What a service answered to `operation`, as the core's `complete` takes it: `{ body, free }`. */
function encode(operation, result) {
  if (result === null || typeof result !== 'object' || Array.isArray(result)) {
    throw new TypeError(`expected a result object, found ${check.kind(result)}${result === undefined ? '; did the method return it?' : ''}`);
  }
  switch (operation) {
    case 'get_run':
      return encodeRun(result);
    case 'list_events':
      return encodePage(result);
    default:
      return { body: JSON.stringify({ runId: result.runId, revision: finite(result.revision, 'revision'), status: result.status }), free: undefined };
  }
}

function encodeRun(run) {
  const text = run.resultJson;
  const result = text === undefined ? run.result : undefined;
  const body = JSON.stringify({
    runId: run.runId,
    revision: finite(run.revision, 'revision'),
    status: run.status,
    context: pickContext(run.context),
    createdAtUnixMs: finite(run.createdAtUnixMs, 'createdAtUnixMs'),
    updatedAtUnixMs: finite(run.updatedAtUnixMs, 'updatedAtUnixMs'),
    completedAtUnixMs: finite(run.completedAtUnixMs, 'completedAtUnixMs'),
    approval: pickApproval(run.approval),
    result,
    error: run.error,
    metadata: run.metadata,
  });
  checkFaithful(result, 'result');
  return { body, free: text === undefined ? undefined : [check.json('resultJson', text)] };
}

function encodePage(page) {
  const { events } = page;
  if (!Array.isArray(events)) throw new TypeError(`events: expected an array, found ${check.kind(events)}`);
  let free;
  const picked = events.map((event, index) => {
    const path = `events.${index}`;
    if (event === null || typeof event !== 'object') throw new TypeError(`${path}: expected an event object, found ${check.kind(event)}`);
    const text = event.dataJson;
    if (text !== undefined) (free ??= new Array(events.length).fill(null))[index] = check.json(`${path}.dataJson`, text);
    return {
      runId: event.runId,
      sequence: finite(event.sequence, `${path}.sequence`),
      type: event.type,
      status: event.status,
      stepId: event.stepId,
      toolCallId: event.toolCallId,
      timestampUnixMs: finite(event.timestampUnixMs, `${path}.timestampUnixMs`),
      data: text === undefined ? event.data : undefined,
      metadata: event.metadata,
    };
  });
  const body = JSON.stringify({ events: picked, nextSequence: finite(page.nextSequence, 'nextSequence'), hasMore: page.hasMore });
  picked.forEach((event, index) => checkFaithful(event.data, `events.${index}.data`));
  return { body, free };
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

/** An error that a service answered with, as the core's `completeError` takes it. */
function encodeError(error) {
  const { code, message, retryable, details, detailsJson, metadata } = error;
  let text;
  if (detailsJson !== undefined) {
    text = check.json('detailsJson', detailsJson);
  } else if (details !== undefined) {
    text = JSON.stringify(details);
    checkFaithful(details, 'details');
  }
  return { code: check.text('code', code), message: check.text('message', message), retryable: retryable === true, details: text, metadata: check.pairs('metadata', metadata) };
}

module.exports = { encode, encodeError };
