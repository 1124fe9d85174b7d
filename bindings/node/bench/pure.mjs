// The same host in pure JavaScript: JSON.parse, ajv compiled from the contract's own schemas for request and answer, what no
// schema can say by hand, JSON.stringify. It does not refuse repeated members, lone surrogates, overflowing numbers or deep
// nesting: those would need a parser of its own.

import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020.js';

const RESULTS = { create_run: 'submission', get_run: 'run', cancel_run: 'submission', resolve_approval: 'submission', resume_run: 'submission', list_events: 'event_page' };
const SENSITIVE = new RegExp(
  '(token|secrets?|passwords?|passwd|pwd|passphrase|credentials?|(api|access|private|secret)keys?|cookies?|authorization(header)?|jwt|bearer' +
    '|(access|refresh|auth|api|bearer)tokens)$',
);
const NOT_KEPT = /[^a-z0-9]/g;

const schema = (name) => JSON.parse(readFileSync(new URL(`../../../docs/schema/${name}.json`, import.meta.url), 'utf8'));
const ajv = new Ajv2020({ strict: false, useDefaults: true });
const { $defs, properties, required } = schema('request');
const checkEnvelope = ajv.compile({ $defs, type: 'object', properties, required });
const checks = Object.fromEntries(
  Object.entries(RESULTS).map(([operation, result]) => [operation, { body: ajv.compile(schema(operation)), result: ajv.compile(schema(result)) }]),
);

function need(holds, what) {
  if (!holds) throw new Error(what);
}

const sensitive = (name) => SENSITIVE.test(name.toLowerCase().replace(NOT_KEPT, ''));

function kept(metadata) {
  for (const name in metadata) if (sensitive(name)) return Object.fromEntries(Object.entries(metadata).filter(([each]) => !sensitive(each)));
  return metadata;
}

function identity(value) {
  need(value.length <= 341 || Buffer.byteLength(value) <= 1024, 'an identity');
}

function open(message) {
  need(isUtf8(message), 'UTF-8');
  const envelope = JSON.parse(message.toString());
  need(checkEnvelope(envelope), 'envelope');
  const { operation, body, requestId } = envelope;
  const check = checks[operation];
  need(check.body(body), 'body');
  identity(requestId);
  identity(body.runId ?? body.context.runId);
  if (operation === 'create_run') for (const name in body.context.metadata) need(!sensitive(name), 'metadata');
  return envelope;
}

function complete({ requestId, operation, body }, answer) {
  need(checks[operation].result(answer), 'answer');
  return Buffer.from(JSON.stringify({ protocolVersion: '2026-07-01', requestId, operation, ok: true, body: safe(operation, body, answer), error: null }));
}

/** An answer that fits its request, without secrets. */
function safe(operation, body, answer) {
  if (operation === 'list_events') {
    let last = body.afterSequence ?? 0;
    need(answer.events.length <= (body.limit ?? 256), 'events');
    const events = answer.events.map((event) => {
      need(event.runId === body.runId && event.sequence > last, 'event');
      last = event.sequence;
      return { ...event, metadata: kept(event.metadata) };
    });
    need(answer.nextSequence === last, 'nextSequence');
    return { ...answer, events };
  }
  const runId = body.runId ?? body.context.runId;
  need(answer.runId === runId, 'runId');
  if (operation !== 'get_run') return answer;
  const { context, approval, metadata } = answer;
  need(context.runId === '' || context.runId === runId, 'context.runId');
  if (approval !== null) identity(approval.approvalId);
  return {
    ...answer,
    context: { ...context, metadata: kept(context.metadata) },
    approval: approval === null ? null : { ...approval, metadata: kept(approval.metadata) },
    metadata: kept(metadata),
  };
}

export class PureHost {
  constructor(answer) {
    this.answer = answer;
  }

  dispatchJsonSync(message) {
    const envelope = open(message);
    return complete(envelope, this.answer(envelope.body));
  }

  async dispatchJson(message) {
    const envelope = open(message);
    return complete(envelope, await this.answer(envelope.body));
  }
}
