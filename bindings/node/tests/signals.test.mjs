// What a signal has to be, and that nothing of a caller's can reach another caller's call through it.

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { Client, Host } from 'agenthost';
import { GET_RUN, message, read, service, view } from './support.mjs';

const open = { service: () => new Host(service({ getRun: () => new Promise(() => {}) })), durable: () => Host.open('memory:') };
const LOOKALIKES = {
  'an object with the members of a signal': () => ({ aborted: false, reason: undefined, addEventListener() {}, removeEventListener() {} }),
  'one that cannot listen': () => ({ aborted: false, addEventListener() { throw new Error('cannot listen'); }, removeEventListener() {} }),
  'one that cannot stop listening': () => ({ aborted: false, addEventListener() {} }),
  'an EventTarget': () => Object.assign(new EventTarget(), { aborted: false }),
  'an object with the prototype of a signal': () => Object.create(AbortSignal.prototype),
  'a Proxy of a signal': () => new Proxy(new AbortController().signal, {}),
  'a controller': () => new AbortController(),
  null: () => null,
};

for (const [kind, make] of Object.entries(open)) {
  for (const [name, lookalike] of Object.entries(LOOKALIKES)) {
    test(`${kind} host: ${name} is refused before the call begins`, async () => {
      const host = await make();
      await assert.rejects(host.dispatchJson(GET_RUN, { signal: lookalike() }), { name: 'TypeError', message: /^dispatchJson: signal: expected an AbortSignal/ });
      assert.match(inspect(host), /inFlight: 0/);
      await host.close();
    });
  }

  test(`${kind} host: what a caller has changed about a signal is not asked`, async () => {
    const host = await make();
    const controller = new AbortController();
    const { signal } = controller;
    const refuse = () => { throw new Error('not for you'); };
    for (const name of ['addEventListener', 'removeEventListener', 'throwIfAborted']) signal[name] = refuse;
    for (const name of ['aborted', 'reason']) Object.defineProperty(signal, name, { get: refuse });
    const waiting = host.dispatchJson(GET_RUN, { signal });
    if (kind === 'service') {
      controller.abort();
      assert.equal(read(await waiting).error.details.reason, 'cancelled');
    } else {
      assert.equal(read(await waiting).error.code, 'not_found');
    }
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
    await host.close();
  });
}

test('a signal that is told to dispatch gets nobody another call\'s response', async () => {
  const host = await Host.open('memory:');
  const ids = Array.from({ length: 40 }, (_, index) => `run-${index}`);
  const get = (runId) => message('get_run', { runId }, { requestId: runId });
  const inner = [];
  const responses = await Promise.all(ids.map((runId) => {
    const { signal } = new AbortController();
    const dispatches = () => void inner.push([`inner-${runId}`, host.dispatchJson(get(`inner-${runId}`))]);
    signal.removeEventListener = dispatches;
    signal.addEventListener = dispatches;
    Object.defineProperty(signal, 'constructor', { get: () => { dispatches(); return AbortSignal; } });
    return host.dispatchJson(get(runId), { signal });
  }));
  assert.deepEqual(responses.map((response) => read(response).requestId), ids);
  for (const [runId, response] of inner) assert.equal(read(await response).requestId, runId);
  await host.close();
});

test('a signal whose listening fails strands nobody', async () => {
  const calls = [];
  const host = new Host(service({ getRun: () => new Promise((resolve) => calls.push(() => resolve(view('run-1')))) }));
  const controller = new AbortController();
  const { signal } = controller;
  let fails = true;
  Object.defineProperty(signal, 'constructor', { get: () => { if (fails) throw new Error('no class'); return AbortSignal; } });
  await assert.rejects(host.dispatchJson(GET_RUN, { signal }), /no class/);
  assert.equal(calls.length, 0, 'the service was asked');
  fails = false;
  const waiting = [host.dispatchJson(GET_RUN, { signal }), host.dispatchJson(GET_RUN, { signal })];
  controller.abort();
  for (const response of waiting) assert.equal(read(await response).error.details.reason, 'cancelled');
  await host.close();
});

test('a signal that stops listening only with an error answers everybody all the same', async () => {
  const host = new Host(service({ getRun: () => new Promise(() => {}) }));
  const signals = Array.from({ length: 3 }, () => new AbortController().signal);
  const waiting = signals.map((signal) => host.dispatchJson(GET_RUN, { signal }));
  for (const signal of signals) Object.defineProperty(signal, 'constructor', { get: () => { throw new Error('no class'); } });
  await host.close({ drainMs: 0 });
  for (const response of waiting) assert.equal(read(await response).error.details.reason, 'closed');
});

test('a client takes a signal and nothing that looks like one', async () => {
  const client = new Client(() => { throw new Error('sent'); });
  for (const [name, lookalike] of Object.entries(LOOKALIKES)) {
    await assert.rejects(client.getRun({ runId: 'a' }, { signal: lookalike() }), /^TypeError: getRun: signal: expected an AbortSignal/, name);
  }
});
