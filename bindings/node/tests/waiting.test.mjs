// Calls that wait: aborted, timed out, closed, and answered too late.

import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { test } from 'node:test';
import { Host } from 'agenthost';
import { CREATE_RUN, GET_RUN, keeper, read, run, service, view } from './support.mjs';

/** A service whose getRun waits for `answer`, and whoever wants to know when it was called. */
function slow() {
  const calls = [];
  let begin;
  const called = new Promise((resolve) => { begin = resolve; });
  const getRun = (request, call) => new Promise((resolve, reject) => { begin(); calls.push({ call, resolve: () => resolve(view(request.runId)), reject }); });
  return { calls, called, own: service({ getRun }) };
}

const reason = async (response) => read(await response).error?.details.reason;

test('an abort before the call: the service is not asked', async () => {
  const { own, calls } = slow();
  assert.equal(await reason(new Host(own).dispatchJson(GET_RUN, { signal: AbortSignal.abort() })), 'cancelled');
  assert.equal(calls.length, 0);
});

test('a refusal comes before an abort', async () => {
  const response = read(await new Host(service()).dispatchJson('{', { signal: AbortSignal.abort() }));
  assert.equal(response.error.code, 'invalid_request');
});

test('an abort during the call: answered at once, the service gets the reason', async () => {
  const { own, calls, called } = slow();
  const controller = new AbortController();
  const waiting = new Host(own).dispatchJson(GET_RUN, { signal: controller.signal });
  await called;
  const { signal } = calls[0].call;
  const aborted = once(signal, 'abort');
  const why = new Error('the caller has gone');
  controller.abort(why);
  await aborted;
  assert.equal(signal.reason, why);
  const { error } = read(await waiting);
  assert.deepEqual([error.code, error.retryable, error.details], ['unavailable', true, { reason: 'cancelled' }]);
  calls[0].resolve();
});

test('a signal that is first read after the abort is aborted', async () => {
  const { own, calls } = slow();
  const controller = new AbortController();
  const waiting = new Host(own).dispatchJson(GET_RUN, { signal: controller.signal });
  controller.abort();
  await waiting;
  assert.equal(calls[0].call.signal.aborted, true);
  assert.equal(calls[0].call.signal.reason.name, 'AbortError');
});

test('an abort by the service itself, while its method runs', async () => {
  const controller = new AbortController();
  const getRun = () => { controller.abort(); return view('run-1'); };
  assert.equal(await reason(new Host(service({ getRun })).dispatchJson(GET_RUN, { signal: controller.signal })), 'cancelled');
});

test('an abort after the answer changes nothing, and the signal has no listener left', async () => {
  const controller = new AbortController();
  let call;
  const host = new Host(service({ getRun: (request, given) => { call = given; return view(request.runId); } }));
  assert.equal(read(await host.dispatchJson(GET_RUN, { signal: controller.signal })).ok, true);
  controller.abort();
  assert.equal(call.signal.aborted, false);
  assert.equal(host.dispatchJsonSync(GET_RUN).length > 0, true);
});

test('a thousand calls with one signal take one listener, and leave none', async () => {
  const warnings = [];
  const note = (warning) => warnings.push(warning);
  process.on('warning', note);
  const { own, calls } = slow();
  const host = new Host(own);
  const { signal } = new AbortController();
  const waiting = Array.from({ length: 1000 }, () => host.dispatchJson(GET_RUN, { signal }));
  assert.equal(getEventListeners(signal, 'abort').length, 1);
  for (const { resolve } of calls) resolve();
  for (const response of await Promise.all(waiting)) assert.equal(read(response).ok, true);
  await new Promise(setImmediate);
  process.off('warning', note);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  assert.deepEqual(warnings, []);
});

test('an abort answers all calls that share the signal', async () => {
  const { own, calls } = slow();
  const host = new Host(own);
  const controller = new AbortController();
  const waiting = Array.from({ length: 20 }, () => host.dispatchJson(GET_RUN, { signal: controller.signal }));
  calls[3].resolve();
  assert.equal(read(await waiting[3]).ok, true);
  controller.abort();
  const reasons = await Promise.all(waiting.map(reason));
  assert.equal(reasons.filter((why) => why === 'cancelled').length, 19);
});

test('a timeout answers unavailable and aborts the signal of the call', async () => {
  const { own, calls } = slow();
  const { error } = read(await new Host(own).dispatchJson(GET_RUN, { timeoutMs: 5 }));
  assert.deepEqual([error.code, error.retryable, error.details], ['unavailable', true, { reason: 'timeout' }]);
  assert.equal(calls[0].call.signal.reason.name, 'TimeoutError');
});

test('a host has a timeout for all calls, a call its own', async () => {
  const { own, calls } = slow();
  const host = new Host(own, { timeoutMs: 5 });
  assert.equal(await reason(host.dispatchJson(GET_RUN)), 'timeout');
  const waiting = host.dispatchJson(GET_RUN, { timeoutMs: 60_000 });
  await new Promise((resolve) => setTimeout(resolve, 20));
  calls[1].resolve();
  assert.equal(read(await waiting).ok, true);
});

test('a late answer is dropped, a late failure is logged', async () => {
  const { own, calls } = slow();
  const { records, onLog } = keeper();
  const host = new Host(own, { onLog });
  await host.dispatchJson(GET_RUN, { timeoutMs: 1 });
  await host.dispatchJson(GET_RUN, { timeoutMs: 1 });
  calls[0].resolve();
  calls[1].reject(new Error('too late'));
  await new Promise(setImmediate);
  assert.deepEqual(records.map(({ level, message }) => [level, message]), [['warn', 'after its call had been given up, getRun failed: Error: too late']]);
});

test('close with 50 calls waiting answers each of them', async () => {
  const { own, calls } = slow();
  const host = new Host(own);
  const waiting = Array.from({ length: 50 }, () => host.dispatchJson(GET_RUN));
  await host.close({ drainMs: 0 });
  for (const response of await Promise.all(waiting)) {
    const { error } = read(response);
    assert.deepEqual([error.code, error.retryable, error.details], ['unavailable', true, { reason: 'closed' }]);
  }
  for (const { call } of calls) assert.equal(call.signal.reason.name, 'AbortError');
});

test('close waits for what is in flight, and refuses what is new', async () => {
  const { own, calls } = slow();
  const host = new Host(own);
  const waiting = host.dispatchJson(GET_RUN);
  let closed = false;
  const closing = host.close({ drainMs: 60_000 }).then(() => { closed = true; });
  assert.equal(await reason(host.dispatchJson(CREATE_RUN)), 'closed');
  assert.equal(await reason(Promise.resolve(host.dispatchJsonSync(CREATE_RUN))), 'closed');
  assert.equal(closed, false);
  calls[0].resolve();
  assert.equal(read(await waiting).ok, true);
  await closing;
  assert.equal(calls.length, 1);
});

test('closing twice is closing once; a second close with less patience ends the first', async () => {
  const { own } = slow();
  const host = new Host(own);
  const waiting = host.dispatchJson(GET_RUN);
  const first = host.close({ drainMs: 600_000 });
  await host.close({ drainMs: 0 });
  await first;
  assert.equal(await reason(waiting), 'closed');
  await host.close();
});

test('close inside a service method', async () => {
  const host = new Host(service({ getRun: async () => { await host.close({ drainMs: 0 }); return view('run-1'); }, createRun: () => { void host.close(); return { runId: 'run-1', revision: 1, status: 'created' }; } }));
  assert.equal(await reason(host.dispatchJson(GET_RUN)), 'closed');
  const other = new Host(service({ createRun: () => { void other.close(); return { runId: 'run-1', revision: 1, status: 'created' }; } }));
  assert.equal(read(await other.dispatchJson(CREATE_RUN)).ok, true);
});

test('a result whose getter closes the host', async () => {
  const host = new Host(service({ getRun: () => ({ ...view('run-1'), get result() { void host.close({ drainMs: 0 }); return 1; } }) }));
  const response = read(await host.dispatchJson(GET_RUN));
  assert.equal(response.error.details.reason, 'closed');
});

test('a host is disposed of with await using', async () => {
  const host = new Host(service());
  await host[Symbol.asyncDispose]();
  assert.equal(await reason(host.dispatchJson(GET_RUN)), 'closed');
});

test('the process exits by itself when the work is done', async () => {
  const { code, signal, stderr } = await run(`
    import { Host } from 'agenthost';
    import { GET_RUN, service } from './support.mjs';
    const host = new Host(service({ getRun: async (request) => service().getRun(request) }), { timeoutMs: 600_000 });
    await host.dispatchJson(GET_RUN, { timeoutMs: 600_000, signal: new AbortController().signal });`);
  assert.deepEqual([code, signal, stderr], [0, null, '']);
});

test('the process does not exit before an answer that a timeout still brings', async () => {
  const { code, stdout } = await run(`
    import { Host } from 'agenthost';
    import { GET_RUN, read, service } from './support.mjs';
    const host = new Host(service({ getRun: () => new Promise(() => {}) }));
    console.log(read(await host.dispatchJson(GET_RUN, { timeoutMs: 50 })).error.details.reason);
    const waiting = host.dispatchJson(GET_RUN);
    await host.close({ drainMs: 50 });
    console.log(read(await waiting).error.details.reason);`);
  assert.deepEqual([code, stdout], [0, 'timeout\nclosed\n']);
});

test('process.exit with calls in flight is clean', async () => {
  const { code, signal, stderr } = await run(`
    import { Host } from 'agenthost';
    import { GET_RUN, service } from './support.mjs';
    const host = new Host(service({ getRun: () => new Promise(() => {}) }));
    for (let i = 0; i < 50; i++) host.dispatchJson(GET_RUN);
    process.on('exit', () => host.dispatchJsonSync('{'));
    setImmediate(() => process.exit(7));`);
  assert.deepEqual([code, signal, stderr], [7, null, '']);
});
