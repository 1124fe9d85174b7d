// Services that fail: what goes out, and what is logged.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Host, HostError } from 'agenthost';
import { CREATE_RUN, GET_RUN, keeper, read, run, service, view } from './support.mjs';

const SECRET = 'hunter2-do-not-tell';
const FAILURES = {
  'an Error': new Error(SECRET),
  'a string': SECRET,
  nothing: undefined,
  null: null,
  'a number': 7,
  'an object': { message: SECRET },
  'an object that cannot be shown': { toString() { throw new Error(SECRET); } },
  'an object without a prototype': Object.create(null),
  'a symbol': Symbol(SECRET),
  'an Error with a message that throws': Object.defineProperty(new Error(), 'message', { get() { throw new Error(SECRET); } }),
  'a revoked Proxy': (() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; })(),
};

for (const [name, thrown] of Object.entries(FAILURES)) {
  test(`throwing and rejecting with ${name} is internal, and the cause goes to the log`, async () => {
    const ways = {
      thrown: () => { throw thrown; },
      rejected: () => Promise.reject(thrown),
      late: async () => { await null; throw thrown; },
    };
    for (const getRun of Object.values(ways)) {
      const { records, onLog } = keeper();
      const response = read(await new Host(service({ getRun }), { onLog }).dispatchJson(GET_RUN));
      assert.equal(response.error.code, 'internal');
      assert.equal(response.error.retryable, false);
      assert.doesNotMatch(JSON.stringify(response), new RegExp(SECRET));
      assert.equal(records.length, 1);
      assert.equal(records[0].level, 'error');
      assert.match(records[0].message, /^getRun failed: /);
      assert.ok(Object.is(records[0].cause, thrown) || records[0].cause === undefined);
    }
    const { records, onLog } = keeper();
    const response = read(new Host(service({ getRun: ways.thrown }), { onLog }).dispatchJsonSync(GET_RUN));
    assert.equal(response.error.code, 'internal');
    assert.equal(records.length, 1);
  });
}

test('a HostError answers with its code', async () => {
  const error = new HostError('conflict', 'someone was faster', { retryable: true, details: { revision: 8 }, metadata: { hint: 'read again', api_key: SECRET } });
  for (const getRun of [() => { throw error; }, async () => { throw error; }]) {
    const { records, onLog } = keeper();
    const { error: found } = read(await new Host(service({ getRun }), { onLog }).dispatchJson(GET_RUN));
    assert.deepEqual(found, { code: 'conflict', message: 'someone was faster', retryable: true, details: { revision: 8 }, metadata: { hint: 'read again' } });
    assert.deepEqual(records, []);
  }
});

test('a HostError with the code internal keeps only whether it is retryable', async () => {
  const error = new HostError('internal', SECRET, { retryable: true, details: { SECRET }, metadata: { note: SECRET } });
  const response = read(await new Host(service({ getRun() { throw error; } }), { onLog() {} }).dispatchJson(GET_RUN));
  assert.equal(response.error.retryable, true);
  assert.doesNotMatch(JSON.stringify(response), /hunter2/);
});

test('details as text stay exact', async () => {
  const getRun = () => { throw new HostError('not_found', 'no', { detailsJson: '{"big":18446744073709551615}' }); };
  assert.match(Buffer.from(await new Host(service({ getRun })).dispatchJson(GET_RUN)).toString(), /"details":\{"big":18446744073709551615\}/);
});

test('a HostError that cannot be sent is internal', async () => {
  const cycle = {};
  cycle.self = cycle;
  const broken = [
    new HostError('conflict', 'half \ud800'),
    new HostError('conflict', 'x', { details: cycle }),
    new HostError('conflict', 'x', { details: { n: NaN } }),
    new HostError('conflict', 'x', { detailsJson: '{' }),
    new HostError('conflict', 'x', { metadata: { n: 1 } }),
    Object.assign(new HostError('conflict', 'x'), { code: 'made_up' }),
    Object.assign(new HostError('conflict', 'x'), { message: 5 }),
  ];
  for (const error of broken) {
    const { records, onLog } = keeper();
    const response = read(await new Host(service({ getRun() { throw error; } }), { onLog }).dispatchJson(GET_RUN));
    assert.equal(response.error.code, 'internal');
    assert.equal(records.length, 1);
  }
});

test('an exception in onLog is a warning of the process and changes no response', async () => {
  for (const onLog of [() => { throw new Error('the hook broke'); }, async () => { throw new Error('the hook broke'); }]) {
    const host = new Host(service({ getRun() { throw new Error('boom'); } }), { onLog });
    const warned = once(process, 'warning');
    assert.equal(read(await host.dispatchJson(GET_RUN)).error.code, 'internal');
    const [warning] = await warned;
    assert.equal(warning.name, 'AgenthostWarning');
    assert.match(warning.message, /the onLog hook failed: Error: the hook broke/);
  }
});

test('without onLog the cause is a warning of the process', async () => {
  const { stderr, stdout, code } = await run(`
    import { Host } from 'agenthost';
    import { GET_RUN, read, service } from './support.mjs';
    const host = new Host(service({ getRun() { throw new Error('the cause'); } }));
    console.log(read(host.dispatchJsonSync(GET_RUN)).error.code);`);
  assert.equal(code, 0, stderr);
  assert.equal(stdout, 'internal\n');
  assert.match(stderr, /AgenthostWarning: getRun failed: Error: the cause/);
});

test('onLog can dispatch', async () => {
  const inner = new Host(service());
  let found;
  const host = new Host(service({ getRun() { throw new Error('x'); } }), { onLog: () => { found = read(inner.dispatchJsonSync(GET_RUN)); } });
  host.dispatchJsonSync(GET_RUN);
  assert.equal(found.ok, true);
});

test('a promise from the service of a synchronous dispatch is a clear error', async () => {
  const { records, onLog } = keeper();
  const host = new Host(service({ createRun: async () => { throw new Error('late'); } }), { onLog });
  assert.throws(() => host.dispatchJsonSync(CREATE_RUN), { name: 'TypeError', message: /createRun returned a promise.*use dispatchJson/ });
  await new Promise(setImmediate);
  assert.deepEqual(records.map(({ message }) => message.split(':')[0]), ['createRun failed', 'createRun failed']);
  assert.equal(read(host.dispatchJsonSync(GET_RUN)).ok, true);
});

test('a promise that rejects after its synchronous dispatch was closed is logged, and is no unhandled rejection', async () => {
  const { records, onLog } = keeper();
  const host = new Host(service({ getRun: async () => { void host.close({ drainMs: 0 }); throw new Error('late'); } }), { onLog });
  assert.throws(() => host.dispatchJsonSync(GET_RUN), /returned a promise/);
  await new Promise(setImmediate);
  assert.deepEqual(records.map(({ message }) => message), ['getRun failed: Error: late']);
});

test('a thenable that resolves twice answers once', async () => {
  const getRun = () => ({ then(resolve, reject) { resolve(view('run-1')); resolve(view('run-1', { revision: 2 })); reject(new Error('no')); } });
  const { records, onLog } = keeper();
  const host = new Host(service({ getRun }), { onLog });
  assert.equal(read(await host.dispatchJson(GET_RUN)).body.revision, 1);
  assert.deepEqual(records, []);
});

test('a thenable that never resolves ends with the timeout, and with close', async () => {
  const host = new Host(service({ getRun: () => ({ then() {} }) }));
  assert.deepEqual(read(await host.dispatchJson(GET_RUN, { timeoutMs: 5 })).error.details, { reason: 'timeout' });
  const waiting = host.dispatchJson(GET_RUN);
  await host.close({ drainMs: 0 });
  assert.deepEqual(read(await waiting).error.details, { reason: 'closed' });
});

test('a thenable that throws, synchronously or in its getter', async () => {
  const thenables = [{ then() { throw new Error('then'); } }, { get then() { throw new Error('then'); } }];
  for (const thenable of thenables) {
    const { records, onLog } = keeper();
    assert.equal(read(await new Host(service({ getRun: () => thenable }), { onLog }).dispatchJson(GET_RUN)).error.code, 'internal');
    assert.match(records[0].message, /getRun failed: Error: then/);
  }
});
