// The Host itself: how it is made, and what messages it takes.

import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { test } from 'node:test';
import { Host } from 'agenthost';
import { CREATE_RUN, envelope, GET_RUN, METHODS, read, service, view } from './support.mjs';

test('a missing method is refused by the constructor, with its name', () => {
  for (const name of METHODS) {
    assert.throws(() => new Host({ ...service(), [name]: undefined }), { name: 'TypeError', message: `Host: the service has no method ${name}` });
  }
  assert.throws(() => new Host({}), /createRun, getRun, cancelRun, resolveApproval, resumeRun, listEvents/);
  for (const wrong of [undefined, null, 'service', 1]) assert.throws(() => new Host(wrong), /expected a service object/);
});

test('misspelled options are refused, with those that are known', async () => {
  assert.throws(() => new Host(service(), { maxMesageBytes: 1 }), /unknown option "maxMesageBytes"; known are maxMessageBytes/);
  const host = new Host(service());
  await assert.rejects(host.dispatchJson(GET_RUN, { timeout: 5 }), /unknown option "timeout"; known are principal, signal, timeoutMs/);
  assert.throws(() => host.dispatchJsonSync(GET_RUN, { timeoutMs: 5 }), /unknown option "timeoutMs"/);
  await assert.rejects(host.close({ drain: 5 }), /unknown option "drain"/);
  await assert.rejects(host.dispatchJson(GET_RUN, 5), /expected options as an object/);
});

test('options of another type or range are refused', async () => {
  for (const maxMessageBytes of [0, -1, 1.5, NaN, '1', 2n]) assert.throws(() => new Host(service(), { maxMessageBytes }), /maxMessageBytes/);
  for (const sensitiveNames of ['x', [1], ['日本'], ['']]) assert.throws(() => new Host(service(), { sensitiveNames }), TypeError);
  assert.throws(() => new Host(service(), { requirePrincipal: 'yes' }), TypeError);
  assert.throws(() => new Host(service(), { onLog: 'console' }), TypeError);
  const host = new Host(service());
  for (const timeoutMs of [-1, NaN, Infinity, 2 ** 31, '5']) {
    await assert.rejects(host.dispatchJson(GET_RUN, { timeoutMs }), /timeoutMs/);
    assert.throws(() => new Host(service(), { timeoutMs }), /timeoutMs/);
    await assert.rejects(host.close({ drainMs: timeoutMs }), /drainMs/);
  }
  await assert.rejects(host.dispatchJson(GET_RUN, { signal: {} }), /expected an AbortSignal, found an object/);
});

test('an empty principal is refused, and says what to do', async () => {
  const host = new Host(service());
  await assert.rejects(host.dispatchJson(GET_RUN, { principal: '' }), { name: 'TypeError', message: /an empty principal is not a principal: leave it out/ });
  assert.throws(() => host.dispatchJsonSync(GET_RUN, { principal: '' }), TypeError);
  await assert.rejects(host.dispatchJson(GET_RUN, { principal: null }), /principal: expected a string, found null/);
  await assert.rejects(host.dispatchJson(GET_RUN, { principal: '\ud800' }), /lone surrogate/);
});

test('a host can require a principal', async () => {
  const host = new Host(service(), { requirePrincipal: true });
  assert.equal(read(await host.dispatchJson(GET_RUN)).error.code, 'unauthorized');
  assert.equal(read(await host.dispatchJson(GET_RUN, { principal: 'alice' })).ok, true);
});

test('a message is a Uint8Array, a Buffer or a string; the response is a Uint8Array', async () => {
  const host = new Host(service());
  const bytes = new TextEncoder().encode(GET_RUN);
  const inside = Buffer.concat([Buffer.from('xx'), bytes, Buffer.from('yy')]).subarray(2, -2);
  for (const data of [GET_RUN, bytes, Buffer.from(GET_RUN), inside]) {
    const response = await host.dispatchJson(data);
    assert.ok(response instanceof Uint8Array);
    assert.equal(read(response).ok, true);
    assert.deepEqual(host.dispatchJsonSync(data), response);
  }
});

test('anything else is a TypeError that says what to pass', async () => {
  const host = new Host(service());
  await assert.rejects(host.dispatchJson({}), { name: 'TypeError', message: /expected a message as a Uint8Array or a string, found an object; pass JSON text/ });
  await assert.rejects(host.dispatchJson(Promise.resolve(GET_RUN)), /found a promise; await it first/);
  for (const wrong of [undefined, null, 1, [], new ArrayBuffer(2), new DataView(new ArrayBuffer(2)), new Uint16Array(2)]) {
    await assert.rejects(host.dispatchJson(wrong), TypeError);
    assert.throws(() => host.dispatchJsonSync(wrong), TypeError);
  }
});

test('any bytes get one valid response', async () => {
  const host = new Host(service());
  const texts = ['', ' ', '{', 'null', '[]', '{}', '\u0000', GET_RUN + '\u0000', '\ud800', `{"requestId":"\ud800"}`, '['.repeat(1e6), new Uint8Array([0xff]), new Uint8Array(0)];
  for (const data of texts) {
    const response = read(await host.dispatchJson(data));
    assert.equal(response.ok, false);
    assert.deepEqual(Object.keys(response), ['protocolVersion', 'requestId', 'operation', 'ok', 'body', 'error']);
  }
});

test('a lone surrogate in a string is refused as one, not replaced', async () => {
  const host = new Host(service());
  const text = JSON.stringify(envelope('get_run', { runId: 'run-1' })).replace('run-1', 'run-\ud800');
  assert.match(read(await host.dispatchJson(text)).error.message, /surrogate/);
});

test('a buffer that is changed after the call has started changes nothing', async () => {
  let seen;
  const createRun = async (request) => {
    await new Promise(setImmediate);
    seen = request.input;
    return { runId: request.context.runId, revision: 1, status: 'created' };
  };
  const host = new Host(service({ createRun }));
  const data = Buffer.from(JSON.stringify(envelope('create_run', { context: { runId: 'run-1' }, input: { keep: 'me' } })));
  const waiting = host.dispatchJson(data);
  data.fill(0);
  assert.equal(read(await waiting).body.runId, 'run-1');
  assert.deepEqual(seen, { keep: 'me' });
});

test('a message in shared memory is copied before it is read', async () => {
  const shared = new Uint8Array(new SharedArrayBuffer(GET_RUN.length));
  shared.set(new TextEncoder().encode(GET_RUN));
  assert.equal(read(await new Host(service()).dispatchJson(shared)).ok, true);
});

test('a detached buffer is an empty message', async () => {
  const data = new TextEncoder().encode(GET_RUN);
  structuredClone(data, { transfer: [data.buffer] });
  assert.equal(read(await new Host(service()).dispatchJson(data)).error.code, 'invalid_request');
});

test('a message over the size limit is refused, one exactly at it is not', async () => {
  const host = new Host(service(), { maxMessageBytes: GET_RUN.length, onLog() {} });
  assert.notEqual(read(await host.dispatchJson(GET_RUN)).error?.code, 'invalid_request');
  assert.equal(read(await host.dispatchJson(`${GET_RUN} `)).error.code, 'invalid_request');
});

test('a 15 MiB message goes through', async () => {
  const input = 'x'.repeat(15 << 20);
  let length;
  const createRun = (request) => ((length = request.input.length), { runId: 'run-1', revision: 1, status: 'created' });
  const text = JSON.stringify(envelope('create_run', { context: { runId: 'run-1' }, input }));
  assert.equal(read(await new Host(service({ createRun })).dispatchJson(text)).ok, true);
  assert.equal(length, 15 << 20);
});

test('dispatch inside a service method', async () => {
  const host = new Host(service({
    createRun: async ({ context }) => ({ runId: context.runId, revision: read(await host.dispatchJson(GET_RUN)).body.revision, status: 'running' }),
    cancelRun: ({ runId }) => ({ runId, revision: read(host.dispatchJsonSync(GET_RUN)).body.revision, status: 'cancelled' }),
  }));
  assert.equal(read(await host.dispatchJson(CREATE_RUN)).ok, true);
  assert.equal(read(host.dispatchJsonSync(JSON.stringify(envelope('cancel_run', { runId: 'run-1', expectedRevision: 1 })))).ok, true);
});

test('methods of a host can be handed on as functions', async () => {
  const { dispatchJson, dispatchJsonSync } = new Host(service());
  assert.equal(read(await dispatchJson(GET_RUN)).ok, true);
  assert.equal(read(dispatchJsonSync(GET_RUN)).ok, true);
});

test('inspecting a host, a call and a request shows no secret', async () => {
  const host = new Host(service({ getRun: () => view('run-1') }), { sensitiveNames: ['pin'] });
  assert.equal(inspect(host), 'Host { closing: false, inFlight: 0 }');
  await host.close();
  assert.equal(inspect(host), 'Host { closing: true, inFlight: 0 }');
});
