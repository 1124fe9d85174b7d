'use strict';
// Calls as the native library packs them: one string, with numbers beside it. Crossing the border often, or with JSON, costs more than
// taking the string apart. `src/packed/call.rs` is the other end.

const { Call } = require('../call');
const freeJson = require('../free-json');
const { OPERATIONS } = require('../operations');
const metadata = require('./metadata');
const { callArrived, header, time } = require('./numbers');

/** A call that was opened: its number, the `Call` for the service, and the request. */
function decode(opened, principal) {
  callArrived();
  const hasInput = typeof opened !== 'string';
  const text = hasInput ? opened[0] : opened;
  const operation = OPERATIONS[text.charCodeAt(0) - 0x30];
  const number = header[0];
  const key = 1 + header[1];
  const envelopeMetadata = key + header[2];
  const body = envelopeMetadata + header[3];
  const call = new Call(operation, text.slice(1, key), text.slice(key, envelopeMetadata), text.slice(envelopeMetadata, body), principal);
  return { number, call, request: request(operation, text, body, hasInput ? opened[1] : undefined) };
}

function request(operation, text, body, input) {
  if (operation === 'get_run') return { runId: text.slice(body) };
  if (operation === 'create_run') return createRun(text, body, input);
  const parsed = JSON.parse(text.slice(body));
  return input === undefined ? parsed : freeJson.define(parsed, 'input', input);
}

function createRun(text, body, input) {
  let part = 4;
  let end = body;
  const next = () => {
    const start = end;
    end += header[part++];
    return text.slice(start, end);
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
    metadata: metadata.parse(next()),
  };
  const created = freeJson.define({ context }, 'input', input);
  created.metadata = metadata.parse(next());
  return created;
}

module.exports = { decode };
