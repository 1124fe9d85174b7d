// A Node host and real envelopes: a run is created, read, retried, cancelled, and asked for wrongly.

import { Client, encodeRequest, Host, HostError } from 'agenthost';

const runs = new Map();
const done = new Map();

function find(runId) {
  const run = runs.get(runId);
  if (run === undefined) throw new HostError('not_found', `there is no run ${runId}`);
  return run;
}

/** A retry of a mutation carries the same key, and gets the same answer. */
function once(call, act) {
  if (!done.has(call.idempotencyKey)) done.set(call.idempotencyKey, act());
  return done.get(call.idempotencyKey);
}

const submission = ({ runId, revision, status }) => ({ runId, revision, status });
const noApproval = ({ runId }) => {
  throw new HostError('conflict', `run ${runId} waits for no approval`);
};

const host = new Host({
  async createRun({ context, input }, call) {
    return once(call, () => {
      const run = { runId: context.runId, revision: 1, status: 'running', context, result: { echo: input }, createdAtUnixMs: Date.now() };
      runs.set(context.runId, run);
      return submission(run);
    });
  },
  getRun: ({ runId }) => find(runId),
  async cancelRun({ runId, expectedRevision, reason }, call) {
    return once(call, () => {
      const run = find(runId);
      if (run.revision !== expectedRevision) throw new HostError('conflict', 'the run has changed', { details: { revision: run.revision } });
      Object.assign(run, { revision: run.revision + 1, status: 'cancelled', error: reason });
      return submission(run);
    });
  },
  resolveApproval: noApproval,
  resumeRun: noApproval,
  listEvents: ({ afterSequence }) => ({ events: [], nextSequence: afterSequence }),
});

const show = (what, bytes) => console.log(`node: ${what}\n  ${Buffer.from(bytes)}`);

const create = encodeRequest('create_run', { context: { runId: 'run-1', tenantId: 'acme' }, input: { question: 'how far?' } });
show('a request', create.bytes);
show('its response', await host.dispatchJson(create.bytes, { principal: 'alice' }));
show('the same request again', await host.dispatchJson(create.bytes, { principal: 'alice' }));
show('a refusal that names the member', await host.dispatchJson('{"protocolVersion":"2026-07-01","requestId":"r","operation":"get_run","body":{"runId":7}}'));

const client = new Client(host.dispatchJson);
const run = await client.getRun({ runId: 'run-1' });
console.log('node: a client reads', run.status, run.result);
console.log('node: and cancels', await client.cancelRun({ runId: 'run-1', expectedRevision: run.revision, reason: 'the demo is over' }));
await client.getRun({ runId: 'run-2' }).catch((error) => console.log('node: an error is typed:', error.name, error.code, '-', error.message));
await host.close();

const durable = await Host.open('memory:');
const recorder = new Client(durable.dispatchJson);
const key = { idempotencyKey: 'demo-1' };
console.log('node: a durable run', await recorder.createRun({ context: { runId: 'run-1' } }, key));
console.log('node: and its retry', await recorder.createRun({ context: { runId: 'run-1' } }, key));
console.log('node: its events', (await recorder.listEvents({ runId: 'run-1' })).events.map(({ sequence, type }) => `${sequence} ${type}`));
await durable.close();
