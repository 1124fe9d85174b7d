// The same in pure JavaScript: JSON.parse, compiled ajv with the contract's own schemas for request and answer, JSON.stringify.
// It checks less (no repeated names, no depth, no lone surrogates, no overflow, no order of events) and answers the same.

import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020.js';

const RESULTS = { create_run: 'submission', get_run: 'run', cancel_run: 'submission', resolve_approval: 'submission', resume_run: 'submission', list_events: 'event_page' };
const schema = (name) => JSON.parse(readFileSync(new URL(`../../../docs/schema/${name}.json`, import.meta.url), 'utf8'));
const ajv = new Ajv2020({ strict: false, useDefaults: true });
const { $defs, properties, required } = schema('request');
const checkEnvelope = ajv.compile({ $defs, type: 'object', properties, required });
const checks = Object.fromEntries(
  Object.entries(RESULTS).map(([operation, result]) => [operation, { body: ajv.compile(schema(operation)), result: ajv.compile(schema(result)) }]),
);

function open(message) {
  const envelope = JSON.parse(message.toString());
  if (!checkEnvelope(envelope)) throw new Error(ajv.errorsText(checkEnvelope.errors));
  const { body } = checks[envelope.operation];
  if (!body(envelope.body)) throw new Error(ajv.errorsText(body.errors));
  return envelope;
}

function complete({ requestId, operation }, answer) {
  const { result } = checks[operation];
  if (!result(answer) || answer.runId === '') throw new Error(ajv.errorsText(result.errors));
  return Buffer.from(JSON.stringify({ protocolVersion: '2026-07-01', requestId, operation, ok: true, body: answer, error: null }));
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
