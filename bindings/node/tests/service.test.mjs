// What a service is given, and what it may answer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Host } from 'agenthost';
import { CREATE_RUN, envelope, event, GET_RUN, keeper, message, METHODS, read, service, view } from './support.mjs';

async function seen(text, options) {
  let told;
  const own = Object.fromEntries(METHODS.map((name) => [name, (...all) => {
    told ??= { name, request: all[0], call: all[1] };
    return service()[name](...all);
  }]));
  const response = read(await new Host(service(own)).dispatchJson(text, options));
  assert.equal(response.ok, true, JSON.stringify(response));
  return told;
}

async function answered(own, text, onLog = () => {}) {
  return read(await new Host(service(own), { onLog }).dispatchJson(text));
}

test('requests have the members of the wire, with every default filled in', async () => {
  const { name, request } = await seen(message('cancel_run', { runId: 'run-1', expectedRevision: 7 }));
  assert.equal(name, 'cancelRun');
  assert.deepEqual(request, { runId: 'run-1', expectedRevision: 7, reason: 'agent run cancelled' });
});

test('each operation reaches the method of its name', async () => {
  const bodies = {
    create_run: { context: { runId: 'run-1' } },
    get_run: { runId: 'run-1' },
    cancel_run: { runId: 'run-1', expectedRevision: 1 },
    resolve_approval: { runId: 'run-1', expectedRevision: 1, approvalId: 'a', resolution: 'approved' },
    resume_run: { runId: 'run-1', expectedRevision: 1, approvalId: 'a' },
    list_events: { runId: 'run-1' },
  };
  const names = [];
  for (const [operation, body] of Object.entries(bodies)) {
    const { name, call } = await seen(message(operation, body));
    assert.equal(call.operation, operation);
    names.push(name);
  }
  assert.deepEqual(names, METHODS);
});

test('input is parsed when it is read, once; inputJson is the exact text', async () => {
  const { request } = await seen(`{"protocolVersion":"2026-07-01","requestId":"r","idempotencyKey":"k","operation":"create_run",
    "body":{"context":{"runId":"run-1"},"input":{"big": 9007199254740993, "f": 7.0}}}`);
  assert.equal(request.inputJson, '{"big": 9007199254740993, "f": 7.0}');
  assert.deepEqual(request.input, { big: 9007199254740992, f: 7 });
  assert.equal(request.input, request.input);
  assert.deepEqual(Object.keys(request), ['context', 'input', 'metadata']);
  assert.match(JSON.stringify(request), /"input":\{"big"/);
});

test('a missing input is an empty object', async () => {
  const { request } = await seen(CREATE_RUN);
  assert.deepEqual(request.input, {});
  assert.equal(request.inputJson, '{}');
});

test('a member named __proto__ is a member and nothing else', async () => {
  const text = '{"protocolVersion":"2026-07-01","requestId":"r","idempotencyKey":"k","operation":"create_run","metadata":{"__proto__":"m"},' +
    '"body":{"context":{"runId":"run-1"},"input":{"__proto__":{"polluted":true}}}}';
  const { request, call } = await seen(text);
  assert.equal(Object.getPrototypeOf(request.input), Object.prototype);
  assert.equal(Object.getPrototypeOf(call.metadata), Object.prototype);
  assert.equal(Object.getOwnPropertyDescriptor(call.metadata, '__proto__').value, 'm');
  assert.equal({}.polluted, undefined);
});

test('the call has the ids, the metadata, the principal and a signal', async () => {
  const text = JSON.stringify(envelope('get_run', { runId: 'run-1' }, { metadata: { channel: 'web' } }));
  const { call } = await seen(text, { principal: 'alice' });
  const { operation, requestId, idempotencyKey, metadata, principal, signal } = call;
  assert.deepEqual({ operation, requestId, idempotencyKey, metadata, principal },
    { operation: 'get_run', requestId: 'req-1', idempotencyKey: 'key-1', metadata: { channel: 'web' }, principal: 'alice' });
  assert.ok(signal instanceof AbortSignal && !signal.aborted);
  assert.equal(call.signal, signal);
});

test('metadata of any letters arrives as it is', async () => {
  const metadata = { channel: 'web', 'ключ': 'значение 🎉', 'empty': '', ['n'.repeat(200)]: 'v'.repeat(20_000) };
  const text = JSON.stringify(envelope('get_run', { runId: 'läuft' }, { metadata, requestId: 'ä', idempotencyKey: '🎉' }));
  const { call, request } = await seen(text);
  assert.deepEqual([call.requestId, call.idempotencyKey, request.runId, call.metadata], ['ä', '🎉', 'läuft', metadata]);
});

test('without a principal the service sees none', async () => {
  assert.equal((await seen(GET_RUN)).call.principal, undefined);
});

test('methods run with the service as this, and are found on its class', async () => {
  class Runs {
    #title = 'mine';
    getRun({ runId }) {
      return view(runId, { error: this.#title });
    }
  }
  for (const name of METHODS) if (name !== 'getRun') Runs.prototype[name] = () => {};
  const response = read(await new Host(new Runs()).dispatchJson(GET_RUN));
  assert.equal(response.body.error, 'mine');
});

test('what a result leaves out has its default', async () => {
  const { body } = await answered({}, GET_RUN);
  assert.equal(body.approval, null);
  assert.equal(body.result, null);
  assert.equal(body.error, '');
  assert.equal(body.completedAtUnixMs, null);
  assert.deepEqual(body.metadata, {});
});

test('free JSON that is given as text stays exact', async () => {
  const run = await new Host(service({ getRun: () => view('run-1', { resultJson: '[18446744073709551615, 1.0]' }) })).dispatchJson(GET_RUN);
  assert.match(Buffer.from(run).toString(), /"result":\[18446744073709551615, 1\.0\]/);
  const page = { events: [event(1, { data: { a: 1 } }), event(2, { dataJson: '9007199254740993' })], nextSequence: 2, hasMore: false };
  const events = await new Host(service({ listEvents: () => page })).dispatchJson(message('list_events', { runId: 'run-1' }));
  assert.match(Buffer.from(events).toString(), /"data":\{"a":1\}.*"data":9007199254740993/);
});

test('free JSON that is given as text is checked by the core', async () => {
  for (const resultJson of ['{', '1,"error":"x"', '{"a":1}}', '"\ud800"', '1e999', '['.repeat(101) + ']'.repeat(101), '']) {
    const { records, onLog } = keeper();
    const { error } = await answered({ getRun: () => view('run-1', { resultJson }) }, GET_RUN, onLog);
    assert.equal(error.code, 'internal', resultJson);
    assert.match(JSON.stringify(records), /resultJson/);
  }
  const { records, onLog } = keeper();
  const page = { events: [event(1, { dataJson: 'no' })], nextSequence: 1, hasMore: false };
  const { error } = await answered({ listEvents: () => page }, message('list_events', { runId: 'run-1' }), onLog);
  assert.equal(error.code, 'internal');
  assert.match(JSON.stringify(records), /events\.0\.dataJson/);
});

test('free JSON as text has to be a string', async () => {
  const { records, onLog } = keeper();
  const { error } = await answered({ getRun: () => view('run-1', { resultJson: { a: 1 } }) }, GET_RUN, onLog);
  assert.equal(error.code, 'internal');
  assert.match(records[0].message, /resultJson: expected JSON text as a string, found an object/);
});

test('metadata with sensitive names is dropped, the host adds names', async () => {
  const host = new Host(service({ getRun: () => view('run-1', { metadata: { api_key: '1', 'session-id': '2', region: '3' } }) }), { sensitiveNames: ['session_id'] });
  assert.deepEqual(read(await host.dispatchJson(GET_RUN)).body.metadata, { region: '3' });
  assert.ok(host.isSensitiveName('my.sessionId') && host.isSensitiveName('password') && !host.isSensitiveName('region'));
});

test('an answer that breaks a rule is internal, and the log names the member and not its value', async () => {
  const { records, onLog } = keeper();
  const response = await answered({ getRun: () => view('hidden-run') }, GET_RUN, onLog);
  assert.equal(response.error.code, 'internal');
  assert.doesNotMatch(JSON.stringify(response), /hidden-run/);
  assert.equal(records.length, 1);
  assert.equal(records[0].level, 'error');
  assert.match(JSON.stringify(records[0]), /runId/);
  assert.doesNotMatch(JSON.stringify(records[0]), /hidden-run/);
});
