// A good citizen of its process: worker threads, memory, entries, bundlers, and native code that never ends the process.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MessageChannel, Worker } from 'node:worker_threads';
import * as agenthost from 'agenthost';
import { GET_RUN, read, run, service } from './support.mjs';

const require = createRequire(import.meta.url);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const WORKER = `
  import { parentPort, workerData } from 'node:worker_threads';
  import { Client, Host } from 'agenthost';
  import { GET_RUN, read, service, view } from './support.mjs';
  const slow = new Host(service({ getRun: () => new Promise(() => {}) }));
  const own = new Host(service({ getRun: async ({ runId }) => view(runId, { error: 'worker ' + workerData }) }));
  for (let i = 0; i < 50; i++) slow.dispatchJson(GET_RUN);
  for (let i = 0; i < 200; i++) {
    const { body } = read(await own.dispatchJson(GET_RUN));
    if (body.error !== 'worker ' + workerData) throw new Error('the answer of another worker');
  }
  parentPort.postMessage((await new Client(own.dispatchJson).getRun({ runId: 'run-1' })).error);
  setInterval(() => own.dispatchJsonSync('{'), 1);
`;

function worker(index) {
  const url = new URL(`data:text/javascript,${encodeURIComponent(WORKER.replaceAll("'./support.mjs'", `'${new URL('support.mjs', import.meta.url)}'`).replaceAll("'agenthost'", `'${new URL('../package/index.mjs', import.meta.url)}'`))}`);
  return new Worker(url, { workerData: index });
}

test('20 workers, started and ended during calls', async () => {
  const workers = Array.from({ length: 20 }, (_, index) => worker(index));
  const said = await Promise.all(workers.map(async (each) => (await once(each, 'message'))[0]));
  assert.deepEqual(said, workers.map((_, index) => `worker ${index}`));
  const codes = await Promise.all(workers.map((each) => each.terminate()));
  assert.deepEqual([...new Set(codes)], [1]);
  assert.equal(read(await new agenthost.Host(service()).dispatchJson(GET_RUN)).ok, true);
});

test('a worker that ends by itself with calls waiting is clean', async () => {
  const { code, signal, stderr } = await run(`
    import { Worker } from 'node:worker_threads';
    const script = "import('agenthost').then(({ Host }) => { const pending = () => new Promise(() => {});" +
      "const host = new Host({ createRun: pending, getRun: pending, cancelRun: pending, resolveApproval: pending, resumeRun: pending, listEvents: pending });" +
      "for (let i = 0; i < 50; i++) host.dispatchJson('" + JSON.stringify({ protocolVersion: '2026-07-01', requestId: 'r', operation: 'get_run', body: { runId: 'a' } }) + "'); })";
    for (let round = 0; round < 5; round++) {
      const worker = new Worker(script, { eval: true });
      const [code] = await new Promise((resolve) => worker.on('exit', (...all) => resolve(all)));
      if (code !== 0) process.exit(9);
    }`);
  assert.deepEqual([code, signal, stderr], [0, null, '']);
});

test('posting a host to a worker is a DataCloneError', () => {
  const host = new agenthost.Host(service());
  const { port1 } = new MessageChannel();
  assert.throws(() => port1.postMessage(host), { name: 'DataCloneError' });
  assert.throws(() => structuredClone({ host }), { name: 'DataCloneError' });
  port1.close();
});

const FLAT = (work, count) => `
  import { Client, Host, HostError } from 'agenthost';
  import { CREATE_RUN, GET_RUN, service } from './support.mjs';
  const host = new Host(service({ getRun: async (request) => service().getRun(request), cancelRun() { throw new HostError('conflict', 'x'); } }), { onLog() {} });
  const client = new Client(host.dispatchJson);
  const work = ${work};
  const resident = async () => {
    for (let turn = 0; turn < 5; turn++) { gc(); await new Promise((resolve) => setTimeout(resolve, 5)); }
    return process.memoryUsage().rss / 2 ** 20;
  };
  for (let i = 0; i < ${count / 5}; i++) await work(i);
  const before = await resident();
  for (let i = 0; i < ${count}; i++) await work(i);
  console.log(Math.round(await resident() - before));`;

// Hosts are collected as they come: how many wait for the collector is not what is asked.
const WORK = {
  dispatches: [100_000, `async (i) => { i % 3 === 0 ? host.dispatchJsonSync(CREATE_RUN) : await host.dispatchJson(i % 3 === 1 ? GET_RUN : '{', { signal: new AbortController().signal, timeoutMs: 60_000 }); }`],
  'client calls': [50_000, `async () => { await client.getRun({ runId: 'run-1' }); }`],
  'hosts that are forgotten': [50_000, `async (i) => { new Host(service()).dispatchJsonSync(GET_RUN); if (i % 250 === 0) { gc(); await new Promise(setImmediate); } }`],
};

for (const [name, [count, work]] of Object.entries(WORK)) {
  test(`memory is flat over ${count} ${name}`, async () => {
    const { code, stdout, stderr } = await run(FLAT(work, count), { args: ['--expose-gc', '--max-semi-space-size=2'], timeout: 600_000 });
    assert.equal(code, 0, stderr);
    // A leak of 350 bytes each would show as 16 MiB.
    assert.ok(Number(stdout) < 16, `the process grew by ${stdout.trim()} MiB`);
  });
}

test('an input that was read is let go of with its request', async () => {
  const { code, stdout, stderr } = await run(`
    import { Host } from 'agenthost';
    import { message, service } from './support.mjs';
    const submission = service().createRun;
    const host = new Host(service({ createRun: (request) => { request.input.length; return submission(request); } }));
    const text = message('create_run', { context: { runId: 'run-1' }, input: Array.from({ length: 4096 }, (_, index) => ({ index })) });
    const used = () => { gc({ type: 'minor' }); gc({ type: 'minor' }); return process.memoryUsage().heapUsed / 2 ** 20; };
    for (let i = 0; i < 50; i++) host.dispatchJsonSync(text);
    gc();
    const before = used();
    for (let i = 0; i < 50; i++) host.dispatchJsonSync(text);
    console.log(Math.round(used() - before));`, { args: ['--expose-gc', '--max-semi-space-size=2', '--no-incremental-marking'] });
  assert.equal(code, 0, stderr);
  // All 50 take 10 MiB.
  assert.ok(Number(stdout) < 5, `${stdout.trim()} MiB wait for a full collection`);
});

test('the two entries export the same objects', () => {
  const common = require('agenthost');
  assert.deepEqual(Object.keys(common).sort(), Object.keys(agenthost).filter((name) => name !== 'default').sort());
  for (const name of Object.keys(common)) assert.equal(common[name], agenthost[name], name);
  assert.equal(new common.Host(service()) instanceof agenthost.Host, true);
});

test('every native function catches panics', () => {
  const files = readdirSync(here('../src'), { recursive: true }).filter((name) => name.endsWith('.rs'));
  const sources = files.map((name) => readFileSync(here(`../src/${name}`), 'utf8')).join('\n');
  const functions = sources.match(/#\[napi(?!\(module_exports\))[^\]]*\]\s*(?:pub(?:\(crate\))? )?fn \w+/g);
  assert.ok(functions.length > 15, 'the functions were not found');
  for (const found of functions) assert.match(found, /^#\[napi\(catch_unwind\)\]/);
  // Those that Node-API calls without the framework go through one callback.
  const raw = sources.match(/impl Function for \w+/g);
  assert.equal(sources.match(/extern "C" fn/g).length, 1);
  assert.match(sources, /extern "C" fn callback<F: Function>[^}]*[^]*?catch_unwind\(AssertUnwindSafe\(run\)\)/);
  assert.equal(functions.length + raw.length, Object.keys(require('../package/lib/native.js')).length);
});

test('native functions refuse numbers that they never gave', () => {
  const native = require('../package/lib/native.js');
  assert.throws(() => native.open(4_000_000_000, Buffer.from('{'), new ArrayBuffer(16)), /there is no host 4000000000 on this thread/);
  const number = native.createHost(1024, [], false);
  assert.throws(() => native.completePacked(new Uint32Array([0, number, 7, ...Array(13)]).buffer, '', new ArrayBuffer(0)), /there is no call 7/);
  assert.throws(() => native.completePacked(new ArrayBuffer(0), '', new ArrayBuffer(0)), /there is no header/);
  assert.throws(() => native.complete(number, 7, '{}', undefined), /there is no call 7/);
  native.releaseHost(number);
  native.releaseHost(number);
  assert.throws(() => native.closeHost(number), /there is no host/);
});

test('the package works in a bundle when it is marked external', async () => {
  const { build } = await import('esbuild');
  const folder = mkdtempSync(here('bundle-'));
  try {
    for (const [format, file] of [['esm', 'out.mjs'], ['cjs', 'out.cjs']]) {
      const contents = "import { Host } from 'agenthost'; import { GET_RUN, read, service } from './support.mjs'; console.log(read(new Host(service()).dispatchJsonSync(GET_RUN)).ok);";
      await build({ stdin: { contents, resolveDir: here('.') }, bundle: true, platform: 'node', logLevel: 'error', format, outfile: join(folder, file), external: ['agenthost'] });
      const { stdout, stderr } = await run(`await import('${join(folder, file)}')`);
      assert.equal(stdout, 'true\n', stderr);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
