// Where code of the application can run during a dispatch: accessors of options, of answers and of errors, proxies, thenables, hooks.
// Whatever it does, each call gets its own response, once, and nothing stays open.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { Host, HostError } from 'agenthost';
import { CREATE_RUN, event, GET_RUN, keeper, message, read, run, service, view } from './support.mjs';

const LIST = message('list_events', { runId: 'run-1' });
const get = (runId) => message('get_run', { runId }, { requestId: runId });
const idle = (host) => assert.match(inspect(host), /inFlight: 0/);

test('options are read once, before the call begins', async () => {
  const seen = [];
  const host = new Host(service({ getRun: (request, call) => { seen.push([request.runId, call.principal]); return view(request.runId); } }));
  for (const dispatch of [(...all) => host.dispatchJson(...all), async (...all) => host.dispatchJsonSync(...all)]) {
    let reads = 0;
    const options = { get principal() { host.dispatchJsonSync(CREATE_RUN, { principal: 'somebody else' }); return `alice ${++reads}`; } };
    assert.equal(read(await dispatch(get('mine'), options)).requestId, 'mine');
    assert.equal(reads, 1);
  }
  assert.deepEqual(seen, [['mine', 'alice 1'], ['mine', 'alice 1']]);
});

test('an option that throws begins nothing', async () => {
  const asked = [];
  const hosts = [new Host(service({ getRun: () => asked.push(1) })), await Host.open('memory:')];
  for (const host of hosts) {
    for (const name of ['principal', 'signal', 'timeoutMs']) {
      await assert.rejects(host.dispatchJson(GET_RUN, { get [name]() { throw new Error(`no ${name}`); } }), new RegExp(`no ${name}`));
      idle(host);
    }
    await host.close();
  }
  assert.deepEqual(asked, []);
});

test('a time that is none is refused before anything begins', async () => {
  const asked = [];
  const hosts = [new Host(service({ getRun: () => asked.push(1), createRun: () => asked.push(1) })), await Host.open('memory:')];
  const times = [[10 ** 400, RangeError], [Infinity, RangeError], [NaN, RangeError], [-1, RangeError], [-Infinity, RangeError], [2 ** 31, RangeError],
    ['5', TypeError], [5n, TypeError], [null, TypeError], [new Date(5), TypeError], [{ valueOf: () => 5 }, TypeError], [[5], TypeError]];
  for (const host of hosts) {
    for (const [timeoutMs, kind] of times) {
      await assert.rejects(host.dispatchJson(CREATE_RUN, { timeoutMs }), kind);
      await assert.rejects(host.close({ drainMs: timeoutMs }), kind);
    }
    idle(host);
    assert.equal(read(await host.dispatchJson('{')).error.code, 'invalid_request', 'a refused close closes nothing');
    await host.close();
  }
  for (const [timeoutMs, kind] of times) {
    assert.throws(() => new Host(service(), { timeoutMs }), kind);
    await assert.rejects(Host.open('memory:', { timeoutMs }), kind);
  }
  assert.deepEqual(asked, []);
});

test('a principal given by mistake is never nobody', async () => {
  const asked = [];
  const hosts = [new Host(service({ getRun: () => asked.push(1) })), await Host.open('memory:')];
  for (const host of hosts) {
    for (const principal of ['', null, undefined, 0, false, ['alice'], { name: 'alice' }, 'ali\u0000ce', '\u0000', '\ud800']) {
      await assert.rejects(host.dispatchJson(GET_RUN, { principal }), { name: 'TypeError', message: /^dispatchJson: .*principal/ });
      assert.throws(() => host.dispatchJsonSync(GET_RUN, { principal }), { name: 'TypeError', message: /^dispatchJsonSync: .*principal/ });
    }
    idle(host);
    await host.close();
  }
  assert.deepEqual(asked, []);
});

test('bytes whose buffer says something else about itself are read as what they are', async () => {
  const shared = new Uint8Array(new SharedArrayBuffer(Buffer.byteLength(get('shared'))));
  shared.set(Buffer.from(get('shared')));
  for (const host of [new Host(service()), await Host.open('memory:')]) {
    Object.defineProperty(shared, 'buffer', { value: new ArrayBuffer(8), configurable: true });
    assert.equal(read(await host.dispatchJson(shared)).requestId, 'shared');
    const bytes = Buffer.from(get('own'));
    Object.defineProperty(bytes, 'buffer', { get() { throw new Error('asked'); } });
    assert.equal(read(await host.dispatchJson(bytes)).requestId, 'own');
    await host.close();
  }
});

const PROMISES = {
  'whose constructor throws': () => Object.defineProperty(Promise.resolve(view('run-1')), 'constructor', { get() { throw new Error('no class'); } }),
  'whose then throws when it is called': () => Object.assign(Promise.resolve(view('run-1')), { then() { throw new Error('no then'); } }),
  'whose then answers at once, and again, and throws': () => Object.assign(Promise.resolve(), { then(resolve) { resolve(view('run-1')); resolve(view('run-1')); throw new Error('too late'); } }),
  'whose species throws': () => Object.assign(Promise.resolve(view('run-1')), { constructor: { get [Symbol.species]() { throw new Error('no species'); } } }),
};

for (const [name, make] of Object.entries(PROMISES)) {
  test(`a promise ${name} gives one response, and leaves nothing open`, async () => {
    const { onLog } = keeper();
    const host = new Host(service({ getRun: make }), { onLog });
    assert.match(read(await host.dispatchJson(GET_RUN)).error?.code ?? 'ok', /^(internal|ok)$/);
    idle(host);
    assert.throws(() => host.dispatchJsonSync(GET_RUN), /getRun returned a promise/);
    idle(host);
    await new Promise(setImmediate);
    await host.close();
  });
}

test('an error whose members throw, dispatch or close is internal', async () => {
  const members = ['code', 'message', 'retryable', 'details', 'detailsJson', 'metadata'];
  for (const name of members) {
    class Hostile extends HostError {
      constructor() {
        super('conflict', 'no');
        Object.defineProperty(this, name, { get() { throw new Error(`no ${name}`); } });
      }
    }
    for (const getRun of [() => { throw new Hostile(); }, () => Promise.reject(new Hostile())]) {
      const { records, onLog } = keeper();
      const host = new Host(service({ getRun }), { onLog });
      assert.equal(read(await host.dispatchJson(GET_RUN)).error.code, 'internal');
      assert.deepEqual(records.map(({ level }) => level), ['error']);
      idle(host);
    }
    const host = new Host(service({
      getRun: ({ runId }) => {
        const error = new HostError('conflict', `no ${runId}`);
        const value = error[name];
        if (runId === 'outer') Object.defineProperty(error, name, { get() { host.dispatchJsonSync(get('inner')); return value; } });
        throw error;
      },
    }));
    const response = read(await host.dispatchJson(get('outer')));
    assert.deepEqual([response.requestId, response.error.code, response.error.message], ['outer', 'conflict', 'no outer'], name);
  }
});

test('every place where an answer runs code may dispatch, and each call gets its own response', async () => {
  const places = [];
  const host = new Host(service({
    getRun: ({ runId }) => {
      if (runId.startsWith('inner')) return view(runId, { error: 'inner '.repeat(20), metadata: { inner: 'yes' } });
      const place = Number(runId.slice(6));
      let at = 0;
      // Each read of a member is a place; the one that is asked about dispatches.
      const wrap = (value) => (value === null || typeof value !== 'object' ? value : new Proxy(value, {
        get(target, name) {
          if (name === 'then') return undefined;
          if (at++ === place) {
            places.push(String(name));
            assert.equal(read(host.dispatchJsonSync(get(`inner-${place}`))).requestId, `inner-${place}`);
          }
          return wrap(target[name]);
        },
        getOwnPropertyDescriptor(target, name) {
          if (at++ === place) assert.equal(read(host.dispatchJsonSync(get(`inner-${place}`))).requestId, `inner-${place}`);
          return Reflect.getOwnPropertyDescriptor(target, name);
        },
        ownKeys(target) {
          if (at++ === place) assert.equal(read(host.dispatchJsonSync(get(`inner-${place}`))).requestId, `inner-${place}`);
          return Reflect.ownKeys(target);
        },
      }));
      return wrap(view(runId, { error: 'outer', metadata: { a: '1' }, result: { deep: [1, { x: 'y' }] }, context: { runId, metadata: { b: '2' } } }));
    },
  }));
  for (let place = 0; place < 120; place++) {
    const response = read(await host.dispatchJson(get(`outer-${place}`)));
    assert.deepEqual([response.requestId, response.body?.error, response.body?.metadata, response.body?.result], [`outer-${place}`, 'outer', { a: '1' }, { deep: [1, { x: 'y' }] }], `place ${place}`);
  }
  assert.ok(new Set(places).size > 15, `only ${places}`);
  idle(host);
});

test('a log hook may close, dispatch and open: each call gets its own response', async () => {
  const host = new Host(service({ getRun() { throw new Error('x'); } }), { onLog: () => { void host.close({ drainMs: 0 }); host.dispatchJsonSync(GET_RUN); } });
  assert.equal(read(await host.dispatchJson(GET_RUN)).error.code, 'internal');
  assert.equal(read(await host.dispatchJson(GET_RUN)).error.details.reason, 'closed');
});

test('a page that says it is endless is refused at once', async () => {
  const { records, onLog } = keeper();
  const endless = [new Array(2 ** 32 - 1), new Proxy([], { get: (target, name) => (name === 'length' ? 2 ** 32 : target[name]) })];
  for (const events of endless) {
    const host = new Host(service({ listEvents: () => ({ events, nextSequence: 1 }) }), { onLog });
    const started = performance.now();
    assert.equal(read(await host.dispatchJson(LIST)).error.code, 'internal');
    assert.ok(performance.now() - started < 20_000);
  }
  assert.equal(records.length, endless.length);
});

test('an answer is not written beyond the limit of a response', async () => {
  // 4^14 references to one word: whole they are 5 GB of text.
  let shared = 'word';
  for (let level = 0; level < 14; level++) shared = [shared, shared, shared, shared];
  let members = 'word';
  for (let level = 0; level < 14; level++) members = { a: members, b: members, c: members, d: members };
  const text = 'x'.repeat(2 ** 24);
  const answers = {
    'result of lists': { getRun: () => view('run-1', { result: shared }) },
    'result of objects': { getRun: () => view('run-1', { result: members }) },
    'result that says itself what it is': { getRun: () => view('run-1', { result: { toJSON: () => shared } }) },
    'result behind a proxy': { getRun: () => view('run-1', { result: new Proxy(shared, {}) }) },
    'result with texts': { getRun: () => view('run-1', { result: Array.from({ length: 4096 }, () => text) }) },
    'text of a result': { getRun: () => view('run-1', { resultJson: `[${Array.from({ length: 3 }, () => `"${text}"`)}]` }) },
    'error text': { getRun: () => view('run-1', { error: text.repeat(20) }) },
    'metadata of a run': { getRun: () => view('run-1', { metadata: shared }) },
    'metadata of another kind': { getRun: () => view('run-1', { metadata: { toJSON: () => members } }) },
    'metadata of texts': { getRun: () => view('run-1', { metadata: Object.fromEntries(Array.from({ length: 4096 }, (_, index) => [`n${index}`, text])) }) },
    'context': { getRun: () => view('run-1', { context: { runId: 'run-1', traceId: shared } }) },
    'data of an event': { listEvents: () => ({ events: [event(1, { data: shared })], nextSequence: 1 }) },
    'data of many events': { listEvents: () => ({ events: Array.from({ length: 1000 }, (_, index) => event(index + 1, { data: text })), nextSequence: 1000 }) },
    'status of a submission': { createRun: () => ({ runId: 'run-1', revision: 1, status: shared }) },
    'details of an error': { getRun() { throw new HostError('conflict', 'no', { details: shared }); } },
    'details as text': { getRun() { throw new HostError('conflict', 'no', { detailsJson: JSON.stringify(text.repeat(2)) }); } },
    'message of an error': { getRun() { throw new HostError('conflict', text.repeat(20)); } },
    'metadata of an error': { getRun() { throw new HostError('conflict', 'no', { metadata: Object.fromEntries(Array.from({ length: 4096 }, (_, index) => [`n${index}`, text])) }); } },
  };
  for (const [name, own] of Object.entries(answers)) {
    const { records, onLog } = keeper();
    const host = new Host(service(own), { onLog });
    const asked = own.listEvents ? LIST : own.createRun ? CREATE_RUN : GET_RUN;
    const started = process.memoryUsage().rss;
    const response = read(host.dispatchJsonSync(asked));
    assert.equal(response.error?.code, 'internal', name);
    assert.equal(records.length, 1, name);
    assert.match(JSON.stringify([records[0].message, records[0].fields]), /16777216/, `${name}: ${records[0].message.slice(0, 300)}`);
    const grown = (process.memoryUsage().rss - started) / 2 ** 20;
    assert.ok(grown < 400, `${name}: the process grew by ${grown} MiB`);
  }
});

test('an answer of shared lists does not end a process of little memory', async () => {
  const ended = await run(`
    import { Host, HostError } from 'agenthost';
    import { GET_RUN, read, service, view } from './support.mjs';
    let shared = 1;
    for (let level = 0; level < 14; level++) shared = [shared, shared, shared, shared];
    const host = new Host(service({ getRun: () => view('run-1', { result: shared }), createRun() { throw new HostError('conflict', 'x', { details: shared }); } }), { onLog() {} });
    console.log(read(await host.dispatchJson(GET_RUN)).error.code);`, { args: ['--max-old-space-size=64'] });
  assert.deepEqual([ended.code, ended.signal, ended.stdout], [0, null, 'internal\n'], ended.stderr.slice(-2000));
});

const EXITS = {
  'a method': `getRun() { process.exit(7); }`,
  'a method that answers later': `async getRun() { await null; process.exit(7); }`,
  'an accessor of an answer': `getRun: () => ({ get runId() { process.exit(7); } })`,
  'toJSON': `getRun: () => view('a', { result: { toJSON() { process.exit(7); } } })`,
  'a member of an error': `getRun() { throw Object.defineProperty(new HostError('conflict', 'x'), 'details', { get() { process.exit(7); } }); }`,
  'a thenable': `getRun: () => ({ then() { process.exit(7); } })`,
  'the log hook': `getRun() { throw new Error('x'); }`,
};

for (const [name, method] of Object.entries(EXITS)) {
  test(`process.exit in ${name} ends the process as it says`, async () => {
    const ended = await run(`
      import { Host, HostError } from 'agenthost';
      import { CREATE_RUN, GET_RUN, service, view } from './support.mjs';
      const durable = await Host.open('memory:');
      const host = new Host(service({ createRun: () => new Promise(() => {}), ${method} }), { onLog() { process.exit(7); } });
      for (let i = 0; i < 20; i++) { host.dispatchJson(CREATE_RUN); durable.dispatchJson(CREATE_RUN); }
      await host.dispatchJson(GET_RUN);
      await new Promise(() => {});`);
    assert.deepEqual([ended.code, ended.signal, ended.stderr], [7, null, '']);
  });
}

test('a log hook that throws, and warnings that cannot be given, change no response', async () => {
  const ended = await run(`
    import { Host } from 'agenthost';
    import { GET_RUN, read, service } from './support.mjs';
    process.emitWarning = () => { throw new Error('no warnings here'); };
    for (const onLog of [undefined, () => { throw new Error('x'); }, async () => { throw new Error('x'); }, () => ({ get then() { throw new Error('x'); } })]) {
      const host = new Host(service({ getRun() { throw new Error('boom'); } }), { onLog });
      console.log(read(await host.dispatchJson(GET_RUN)).error.code, read(host.dispatchJsonSync(GET_RUN)).error.code);
      await host.close();
    }`);
  assert.deepEqual([ended.code, ended.stdout], [0, 'internal internal\n'.repeat(4)], ended.stderr);
});

test('nothing that a service leaves behind becomes an unhandled rejection', async () => {
  const ended = await run(`
    import { Host } from 'agenthost';
    import { GET_RUN, read, service } from './support.mjs';
    const late = () => new Promise((_, reject) => setTimeout(() => reject(new Error('late')), 20));
    const host = new Host(service({ getRun: late }), { onLog() {} });
    console.log(read(await host.dispatchJson(GET_RUN, { timeoutMs: 1 })).error.details.reason);
    const controller = new AbortController();
    const aborted = new Host(service({ getRun: () => { controller.abort(); return late(); } }), { onLog() {} });
    console.log(read(await aborted.dispatchJson(GET_RUN, { signal: controller.signal })).error.details.reason);
    const closing = new Host(service({ getRun: () => { closing.close({ drainMs: 0 }); return late(); } }), { onLog() {} });
    console.log(read(await closing.dispatchJson(GET_RUN)).error.details.reason);
    try { host.dispatchJsonSync(GET_RUN); } catch (error) { console.log(error.name); }
    await new Promise((resolve) => setTimeout(resolve, 60));`);
  assert.deepEqual([ended.code, ended.stdout, ended.stderr], [0, 'timeout\ncancelled\nclosed\nTypeError\n', '']);
});

test('a call that nobody answers does not keep the process', async () => {
  const ended = await run(`
    import { Host } from 'agenthost';
    import { GET_RUN, service } from './support.mjs';
    const host = new Host(service({ getRun: () => new Promise(() => {}) }));
    await host.dispatchJson(GET_RUN, { signal: new AbortController().signal });`);
  // What Node says of a module that waits for what cannot come.
  assert.deepEqual([ended.code, ended.signal], [13, null]);
});
