// The client: what it sends, when it sends it again, and what it makes of what comes back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BadResponse, Client, decodeResponse, encodeRequest, Host, HostError, isSensitiveName, negotiateVersion, supportedVersions } from 'agenthost';
import { event, GET_RUN, read, service, view } from './support.mjs';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A client of a host, and what it has sent. */
function connect(own, options) {
  const host = new Host(service(own), { onLog() {} });
  const sent = [];
  const send = (bytes) => {
    sent.push(Buffer.from(bytes).toString());
    return host.dispatchJson(bytes);
  };
  return { client: new Client(send, { retryDelayMs: 1, ...options }), sent };
}

test('six typed methods over any transport', async () => {
  const { client } = connect({ listEvents: () => ({ events: [event(1, { data: [1] })], nextSequence: 1, hasMore: true }), getRun: () => view('run-1', { result: { a: 1 } }) });
  const submission = { runId: 'run-1', revision: 1, status: 'running' };
  const about = { runId: 'run-1', expectedRevision: 1 };
  assert.deepEqual(await client.createRun({ context: { runId: 'run-1' }, input: { a: 1 } }), submission);
  assert.deepEqual(await client.cancelRun(about), submission);
  assert.deepEqual(await client.resolveApproval({ ...about, approvalId: 'a', resolution: 'denied' }), submission);
  assert.deepEqual(await client.resumeRun({ ...about, approvalId: 'a' }), submission);
  const run = await client.getRun({ runId: 'run-1' });
  assert.deepEqual([run.result, run.resultJson, run.context.runId], [{ a: 1 }, '{"a":1}', 'run-1']);
  const page = await client.listEvents({ runId: 'run-1', limit: 1 });
  assert.deepEqual([page.nextSequence, page.hasMore, page.events[0].data, page.events[0].dataJson], [1, true, [1], '[1]']);
});

test('a host is a transport as it is', async () => {
  const client = new Client(new Host(service()).dispatchJson);
  assert.equal((await client.getRun({ runId: 'run-1' })).runId, 'run-1');
});

test('ids and keys are generated, and taken when they are given', async () => {
  const { client, sent } = connect();
  await client.createRun({ context: { runId: 'run-1' } });
  await client.getRun({ runId: 'run-1' });
  await client.createRun({ context: { runId: 'run-1' } }, { requestId: 'my-id', idempotencyKey: 'my-key', metadata: { channel: 'web' } });
  const [create, get, own] = sent.map((text) => JSON.parse(text));
  assert.match(create.requestId, UUID);
  assert.match(create.idempotencyKey, UUID);
  assert.notEqual(create.requestId, get.requestId);
  assert.equal(get.idempotencyKey, undefined);
  assert.deepEqual([own.requestId, own.idempotencyKey, own.metadata], ['my-id', 'my-key', { channel: 'web' }]);
});

test('a retry sends the same bytes', async () => {
  let failures = 2;
  const createRun = () => {
    if (failures-- > 0) throw new HostError('unavailable', 'not now', { retryable: true });
    return { runId: 'run-1', revision: 1, status: 'created' };
  };
  const { client, sent } = connect({ createRun });
  await client.createRun({ context: { runId: 'run-1' } });
  assert.equal(sent.length, 3);
  assert.equal(new Set(sent).size, 1);
});

test('a transport that changes or keeps its bytes changes no retry', async () => {
  const host = new Host(service());
  const sent = [];
  let broken = 1;
  const client = new Client(async (bytes) => {
    sent.push(Buffer.from(bytes).toString());
    if (broken-- > 0) {
      bytes.fill(0);
      throw new Error('connection reset');
    }
    return host.dispatchJson(bytes);
  }, { retryDelayMs: 1 });
  assert.equal((await client.getRun({ runId: 'run-1' })).runId, 'run-1');
  assert.equal(sent[0], sent[1]);
});

test('retries end, with the last failure', async () => {
  let asked = 0;
  const { client } = connect({ getRun: () => { asked++; throw new HostError('unavailable', 'not now', { retryable: true }); } }, { retries: 1 });
  await assert.rejects(client.getRun({ runId: 'run-1' }), { name: 'HostError', code: 'unavailable', message: 'not now', retryable: true });
  assert.equal(asked, 2);
  const failing = new Client(() => { throw new Error('no route'); }, { retries: 3, retryDelayMs: 0 });
  await assert.rejects(failing.getRun({ runId: 'run-1' }), /no route/);
});

test('what no retry can change is not sent again', async () => {
  const { client, sent } = connect({ getRun() { throw new HostError('not_found', 'no such run', { details: { a: 1 }, metadata: { b: '2' } }); } });
  await assert.rejects(client.getRun({ runId: 'run-1' }), (error) => {
    assert.ok(HostError.is(error));
    assert.deepEqual([error.code, error.message, error.details, error.metadata, error.originalCode], ['not_found', 'no such run', { a: 1 }, { b: '2' }, undefined]);
    return true;
  });
  assert.equal(sent.length, 1);
  let garbage = 0;
  await assert.rejects(new Client(async () => { garbage++; return 'oops'; }).getRun({ runId: 'run-1' }), BadResponse);
  assert.equal(garbage, 1);
});

test('an abort ends a call before, during and between attempts', async () => {
  const why = new Error('enough');
  const untouched = new Client(() => assert.fail('sent'));
  await assert.rejects(untouched.getRun({ runId: 'run-1' }, { signal: AbortSignal.abort(why) }), why);
  const during = new AbortController();
  const waiting = new Client((_bytes, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
  const call = waiting.getRun({ runId: 'run-1' }, { signal: during.signal });
  during.abort(why);
  await assert.rejects(call, why);
  const between = new AbortController();
  const failing = new Client(async () => { setImmediate(() => between.abort()); throw new Error('again'); }, { retryDelayMs: 600_000 });
  await assert.rejects(failing.getRun({ runId: 'run-1' }, { signal: between.signal }), { name: 'AbortError' });
});

test('a request that breaks a rule is refused as the host would refuse it, and is not sent', async () => {
  const client = new Client(() => assert.fail('sent'));
  const refused = (call, path) => assert.rejects(call, { name: 'HostError', code: 'invalid_request', details: { path } });
  await refused(client.getRun({}), 'body.runId');
  await refused(client.getRun({ runId: '' }), 'body.runId');
  await refused(client.getRun({ runId: 'a\u0000b' }), 'body.runId');
  await refused(client.cancelRun({ runId: 'r', expectedRevision: 1.5 }), 'body.expectedRevision');
  await refused(client.cancelRun({ runId: 'r', expectedRevision: 2 ** 53 }), 'body.expectedRevision');
  await refused(client.resolveApproval({ runId: 'r', expectedRevision: 1, approvalId: 'a', resolution: 'pending' }), 'body.resolution');
  await refused(client.listEvents({ runId: 'r', limit: 1001 }), 'body.limit');
  await refused(client.createRun({ context: { runId: 'r', metadata: { api_key: 'x' } } }), 'body.context.metadata.api_key');
  await refused(client.createRun({ context: { runId: 'r' }, inputJson: '{' }), 'body.inputJson');
  await refused(client.getRun({ runId: 'r' }, { requestId: '' }), 'requestId');
  await refused(client.getRun({ runId: 'r' }, { idempotencyKey: 'k\u0000' }), 'idempotencyKey');
  await assert.rejects(client.getRun({ runId: '\ud800' }), /surrogate/);
  await assert.rejects(client.getRun({ runId: 'r' }, { requestId: '\ud800' }), /requestId: expected text, found a lone surrogate/);
  await assert.rejects(client.getRun({ runId: 'r' }, { metadata: { n: 1 } }), /metadata\.n: expected a string/);
  await assert.rejects(client.createRun({ context: { runId: 'r' }, input: { n: NaN } }), /request\.input\.n: expected JSON, found NaN/);
  await assert.rejects(client.getRun({ runId: 'r' }, { key: 'x' }), /unknown option "key"/);
  await assert.rejects(client.getRun('r'), /expected a request object, found a string/);
});

test('options of a client are checked', () => {
  assert.throws(() => new Client(), /expected send as a function/);
  assert.throws(() => new Client(() => {}, { retry: 1 }), /unknown option "retry"/);
  assert.throws(() => new Client(() => {}, { retries: -1 }), /retries/);
  assert.throws(() => new Client(() => {}, { retryDelayMs: NaN }), /retryDelayMs/);
});

test('an exact input goes out as it is', () => {
  const { bytes } = encodeRequest('create_run', { context: { runId: 'r' }, inputJson: '[18446744073709551615, 1.0]' });
  assert.match(bytes.toString(), /"input":\[18446744073709551615, 1\.0\]/);
});

test('encodeRequest gives the same bytes each time, and checks what answers it', () => {
  const prepared = encodeRequest('get_run', { runId: 'run-1' }, { requestId: 'req-1' });
  assert.deepEqual(prepared.bytes, prepared.bytes);
  assert.notEqual(prepared.bytes, prepared.bytes);
  const { operation, requestId, idempotencyKey } = prepared;
  assert.deepEqual({ operation, requestId, idempotencyKey }, { operation: 'get_run', requestId: 'req-1', idempotencyKey: '' });
  const host = new Host(service());
  assert.equal(prepared.decodeResponse(host.dispatchJsonSync(prepared.bytes)).body.runId, 'run-1');
  const other = host.dispatchJsonSync(encodeRequest('get_run', { runId: 'run-1' }, { requestId: 'req-2' }).bytes);
  assert.throws(() => prepared.decodeResponse(other), { name: 'BadResponse', path: 'requestId' });
  assert.throws(() => encodeRequest('getRun', { runId: 'run-1' }), /unknown operation "getRun"; known are create_run/);
});

test('decodeResponse gives a result or an error, and refuses what is neither', async () => {
  const host = new Host(service());
  const success = decodeResponse(await host.dispatchJson(GET_RUN));
  assert.deepEqual([success.ok, success.operation, success.requestId, success.body.runId, success.error], [true, 'get_run', 'req-1', 'run-1', null]);
  const failure = decodeResponse(Buffer.from(await host.dispatchJson('{')).toString());
  assert.deepEqual([failure.ok, failure.body, failure.error.code, failure.error.details], [false, null, 'invalid_request', { path: '' }]);
  assert.throws(() => decodeResponse('{}'), { name: 'BadResponse', path: 'protocolVersion' });
  assert.throws(() => decodeResponse(1), TypeError);
});

test('an error with a code that nobody knows reads as internal and keeps it', () => {
  const response = { protocolVersion: '2026-07-01', requestId: 'r', operation: 'get_run', error: { code: 'teapot' } };
  const { error } = decodeResponse(JSON.stringify(response));
  assert.deepEqual([error.code, error.originalCode], ['internal', 'teapot']);
});

test('free JSON of a response is exact as text, and written once as JSON', async () => {
  const { client } = connect({ getRun: () => view('run-1', { resultJson: '9007199254740993' }) });
  const run = await client.getRun({ runId: 'run-1' });
  assert.equal(run.resultJson, '9007199254740993');
  assert.equal(JSON.parse(JSON.stringify(run)).resultJson, undefined);
  const proxy = connect({ getRun: ({ runId }) => client.getRun({ runId }) });
  assert.equal((await proxy.client.getRun({ runId: 'run-1' })).resultJson, '9007199254740993');
  run.result = { mine: true };
  const changed = connect({ getRun: () => run });
  assert.deepEqual((await changed.client.getRun({ runId: 'run-1' })).result, { mine: true });
});

test('a client that starts with another version finds the common one, with the same id and key', async () => {
  const { client, sent } = connect({}, { protocolVersion: '2099-01-01' });
  await client.createRun({ context: { runId: 'run-1' } });
  await client.getRun({ runId: 'run-1' });
  const messages = sent.map((text) => JSON.parse(text));
  assert.deepEqual(messages.map(({ protocolVersion }) => protocolVersion), ['2099-01-01', ...supportedVersions, ...supportedVersions]);
  assert.equal(messages[0].requestId, messages[1].requestId);
  assert.equal(messages[0].idempotencyKey, messages[1].idempotencyKey);
});

test('a refusal of every version fails, and is asked once', async () => {
  let asked = 0;
  const client = new Client(async (bytes) => {
    asked++;
    const { requestId } = read(bytes);
    const error = { code: 'unsupported_protocol_version', details: { supportedVersions: ['2099-01-01'] } };
    return JSON.stringify({ protocolVersion: '2099-01-01', requestId, operation: 'x', error });
  });
  await assert.rejects(client.getRun({ runId: 'run-1' }), { code: 'unsupported_protocol_version' });
  assert.equal(asked, 1);
});

test('negotiateVersion and isSensitiveName', () => {
  assert.equal(negotiateVersion(['2099-01-01', ...supportedVersions]), supportedVersions[0]);
  assert.equal(negotiateVersion([]), undefined);
  assert.throws(() => negotiateVersion([1]), TypeError);
  assert.equal(isSensitiveName('x-api-key'), true);
  assert.equal(isSensitiveName('max_tokens'), false);
  assert.throws(() => isSensitiveName(), TypeError);
});

test('a request of lists that refer to each other is refused before it is written', () => {
  let shared = 'word';
  for (let level = 0; level < 20; level++) shared = [shared, shared, shared, shared];
  assert.throws(() => encodeRequest('create_run', { context: { runId: 'a' }, input: shared }), /^RangeError: expected at most \d+ bytes of JSON/);
});
