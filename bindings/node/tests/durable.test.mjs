// Host.open: durable runs behind a host. What cannot be opened, what waits, what ends early, and what is there afterwards.

import assert from 'node:assert/strict';
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { MessageChannel, Worker } from 'node:worker_threads';
import { Client, Host } from 'agenthost';
import { GET_RUN, keeper, message, read, run } from './support.mjs';

const folder = mkdtempSync(join(tmpdir(), 'agenthost-durable-'));
after(() => rmSync(folder, { recursive: true }));
let files = 0;
const fresh = () => join(folder, `runs-${++files}.db`);
const here = fileURLToPath(new URL('.', import.meta.url));

const create = (runId, key = `key-${runId}`) => message('create_run', { context: { runId }, input: { n: 1 } }, { idempotencyKey: key });
const get = (runId) => message('get_run', { runId });
const reason = async (response) => read(await response).error?.details.reason;

/** Holds the file's lock for writing from another program: what is to be written waits. */
async function locked(file) {
  const script = `import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read(1)
db.execute("ROLLBACK")`;
  const child = spawn('python3', ['-c', script, file], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return async () => {
    child.stdin.end('x');
    await once(child, 'exit');
  };
}

test('a URL that names no store is refused, without repeating what may be a password', async () => {
  const wrong = {
    'runs.db': /url: expected "memory:" or "sqlite:path", found no scheme/,
    'postgres://me:hunter2@db/runs': /url: expected .*, found a URL "postgres:"$/,
    'sqlite:': /url: expected a path behind "sqlite:"/,
    'sqlite:///runs.db': /url: expected a path behind "sqlite:", found "\/\/"/,
    'memory:x': /url: expected "memory:" and nothing behind it/,
  };
  for (const [url, why] of Object.entries(wrong)) await assert.rejects(Host.open(url), { name: 'TypeError', message: why });
  for (const url of [undefined, 7, new URL('sqlite:runs.db'), 'sqlite:\ud800']) await assert.rejects(Host.open(url), { name: 'TypeError', message: /^Host\.open: url: expected/ });
});

test('a file that cannot be a store is a clear error', async () => {
  const foreign = join(folder, 'foreign.db');
  writeFileSync(foreign, 'these are my notes, please leave them alone\n'.repeat(100));
  const refused = (url, why) => assert.rejects(Host.open(url), { name: 'Error', code: 'ERR_AGENTHOST_STORE', message: why });
  await refused(`sqlite:${join(folder, 'no', 'such', 'runs.db')}`, /the directory of the database does not exist: make it first/);
  await refused(`sqlite:${folder}`, /is a directory: name a file in it/);
  await refused(`sqlite:${foreign}`, /not a SQLite database/);
});

test('misspelled options and values out of range are refused', async () => {
  await assert.rejects(Host.open('memory:', { lease: 5 }), /unknown option "lease"; known are leaseMs/);
  await assert.rejects(Host.open('memory:', 5), /expected options as an object/);
  for (const leaseMs of [0, 0.5, NaN, '5', 24 * 3600_000 + 1]) await assert.rejects(Host.open('memory:', { leaseMs }), /lease/);
  for (const keyTtlMs of [0, -1, 1n]) await assert.rejects(Host.open('memory:', { keyTtlMs }), /keyTtlMs/);
  for (const maxAttempts of [-1, 1.5, null]) await assert.rejects(Host.open('memory:', { maxAttempts }), /maxAttempts/);
  for (const timeoutMs of [-1, 2 ** 31]) await assert.rejects(Host.open('memory:', { timeoutMs }), /timeoutMs/);
  await assert.rejects(Host.open('memory:', { sensitiveNames: ['日本'] }), TypeError);
  await assert.rejects(Host.open('memory:', { onLog: 'console' }), TypeError);
});

test('a dispatch that is misuse rejects', async () => {
  const host = await Host.open('memory:');
  await assert.rejects(host.dispatchJson({}), /expected a message as a Uint8Array or a string/);
  await assert.rejects(host.dispatchJson(GET_RUN, { principal: '' }), /dispatchJson: an empty principal/);
  await assert.rejects(host.dispatchJson(GET_RUN, { timeout: 1 }), /unknown option "timeout"/);
  assert.throws(() => host.dispatchJsonSync(GET_RUN, { principal: '' }), /dispatchJsonSync: an empty principal/);
  assert.throws(() => host.dispatchJsonSync(GET_RUN, { signal: AbortSignal.abort() }), /unknown option "signal"/);
  await host.close();
});

for (const url of ['memory:', 'sqlite']) {
  const open = (options) => Host.open(url === 'memory:' ? url : `sqlite:${fresh()}`, options);

  test(`${url}: a durable host is a Host, with its runs, owners and retries`, async () => {
    const host = await open({ leaseMs: 1000, maxAttempts: 3, keyTtlMs: 60_000, sensitiveNames: ['pin'] });
    assert.ok(host instanceof Host);
    assert.equal(host.isSensitiveName('pin'), true);
    const alice = new Client((bytes, { signal }) => host.dispatchJson(bytes, { principal: 'alice', signal }));
    const created = await alice.createRun({ context: { runId: 'a' }, inputJson: '18446744073709551615' }, { idempotencyKey: 'one' });
    assert.deepEqual(created, { runId: 'a', revision: 1, status: 'created' });
    assert.deepEqual(await alice.createRun({ context: { runId: 'a' }, inputJson: '18446744073709551615' }, { idempotencyKey: 'one' }), created);
    await assert.rejects(alice.createRun({ context: { runId: 'b' } }, { idempotencyKey: 'one' }), { code: 'conflict', details: { reason: 'idempotency_mismatch' } });
    assert.equal((await alice.cancelRun({ runId: 'a', expectedRevision: 1 })).status, 'cancelled');
    assert.deepEqual((await alice.listEvents({ runId: 'a' })).events.map(({ type }) => type), ['run_created', 'run_cancelled']);
    const mallory = read(host.dispatchJsonSync(get('a'), { principal: 'mallory' }));
    assert.equal(mallory.error.code, 'not_found');
    assert.equal(read(host.dispatchJsonSync(get('a'), { principal: 'alice', timeoutMs: 60_000 })).body.status, 'cancelled');
    assert.equal(read(host.dispatchJsonSync(create('c'))).ok, true);
    await host.close();
  });

  test(`${url}: principals can be required`, async () => {
    const host = await open({ requirePrincipal: true });
    assert.equal(read(await host.dispatchJson(GET_RUN)).error.code, 'unauthorized');
    await host[Symbol.asyncDispose]();
  });

  test(`${url}: 64 identical creates at once make one run`, async () => {
    const host = await open();
    const responses = await Promise.all(Array.from({ length: 64 }, () => host.dispatchJson(create('one'))));
    assert.deepEqual([...new Set(responses.map(String))].length, 1);
    const { events } = await new Client(host.dispatchJson).listEvents({ runId: 'one' });
    assert.equal(events.length, 1);
    await host.close();
  });

  test(`${url}: a closed host answers that it is closed, and still refuses what is broken`, async () => {
    const host = await open();
    const closing = host.close();
    assert.equal(await reason(host.dispatchJson(create('a'))), 'closed');
    await closing;
    await host.close({ drainMs: 0 });
    assert.equal(await reason(host.dispatchJson(create('a'))), 'closed');
    assert.equal(await reason(host.dispatchJsonSync(create('a'))), 'closed');
    assert.equal(read(await host.dispatchJson('{')).error.code, 'invalid_request');
  });
}

test('the message is read before dispatchJson returns', async () => {
  const host = await Host.open(`sqlite:${fresh()}`);
  const bytes = Buffer.from(create('kept'));
  const waiting = host.dispatchJson(bytes);
  bytes.fill(0);
  assert.equal(read(await waiting).body.runId, 'kept');
  const shared = new Uint8Array(new SharedArrayBuffer(Buffer.byteLength(get('kept'))));
  shared.set(Buffer.from(get('kept')));
  assert.equal(read(await host.dispatchJson(shared)).ok, true);
  assert.equal(read(await host.dispatchJson(get('\ud800'))).error.code, 'invalid_request');
  await host.close();
});

test('the event loop stays free while 200 dispatches wait', async () => {
  const file = fresh();
  const host = await Host.open(`sqlite:${file}`);
  const unlock = await locked(file);
  const waiting = Array.from({ length: 200 }, (_, index) => host.dispatchJson(create(`run-${index}`)));
  let longest = 0;
  for (let turn = 0; turn < 20; turn++) {
    const started = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 5));
    longest = Math.max(longest, performance.now() - started);
  }
  assert.match(inspect(host), /inFlight: 200/);
  // A dispatch that waited in the loop would wait for the lock, which is given back only below.
  assert.ok(longest < 2000, `a turn of the loop took ${longest} ms`);
  await unlock();
  for (const response of await Promise.all(waiting)) assert.equal(read(response).ok, true);
  await host.close();
});

test('an abort before, during and after: the wait ends, what is written is written', async () => {
  const file = fresh();
  const host = await Host.open(`sqlite:${file}`);
  assert.equal(await reason(host.dispatchJson(create('before'), { signal: AbortSignal.abort() })), 'cancelled');
  assert.equal(read(await host.dispatchJson('{', { signal: AbortSignal.abort() })).error.code, 'invalid_request');
  assert.equal(read(await host.dispatchJson(get('before'))).error.code, 'not_found');

  const unlock = await locked(file);
  const controller = new AbortController();
  const during = Array.from({ length: 20 }, (_, index) => host.dispatchJson(create(`during-${index}`), { signal: controller.signal }));
  setTimeout(() => controller.abort(), 20);
  for (const response of await Promise.all(during)) {
    const { error } = read(response);
    assert.deepEqual([error.code, error.retryable, error.details], ['unavailable', true, { reason: 'cancelled' }]);
  }
  await unlock();
  assert.equal(read(await host.dispatchJson(create('during-0'))).ok, true);
  assert.equal(read(await host.dispatchJson(get('during-19'))).body.status, 'created');

  const late = new AbortController();
  assert.equal(read(await host.dispatchJson(create('after'), { signal: late.signal })).ok, true);
  late.abort();
  assert.equal(read(await host.dispatchJson(get('after'))).ok, true);
  await host.close();
});

test('a timeout, of the host and of a call, sync and async', async () => {
  const file = fresh();
  const host = await Host.open(`sqlite:${file}`, { timeoutMs: 20 });
  const unlock = await locked(file);
  assert.equal(await reason(host.dispatchJson(create('a'))), 'timeout');
  assert.equal(await reason(host.dispatchJsonSync(create('b'))), 'timeout');
  assert.equal(await reason(host.dispatchJsonSync(create('c'), { timeoutMs: 1 })), 'timeout');
  const patient = host.dispatchJson(create('d'), { timeoutMs: 60_000 });
  await new Promise((resolve) => setTimeout(resolve, 40));
  await unlock();
  assert.equal(read(await patient).ok, true);
  await host.close();
});

test('close answers whoever waits when its patience ends, and commits what was accepted', async () => {
  const file = fresh();
  const host = await Host.open(`sqlite:${file}`);
  const unlock = await locked(file);
  const waiting = Array.from({ length: 50 }, (_, index) => host.dispatchJson(create(`run-${index}`)));
  const closing = host.close({ drainMs: 20 });
  assert.equal(await reason(waiting[49]), 'closed');
  await unlock();
  await closing;
  assert.deepEqual([...new Set(await Promise.all(waiting.map(reason)))], ['closed']);
  const again = await Host.open(`sqlite:${file}`);
  assert.equal(read(await again.dispatchJson(get('run-49'))).ok, true);
  await again.close();
});

test('two hosts on one file see the same runs', async () => {
  const file = fresh();
  const [one, two] = await Promise.all([Host.open(`sqlite:${file}`), Host.open(`sqlite:${file}`)]);
  const made = await Promise.all(Array.from({ length: 40 }, (_, index) => [one, two][index % 2].dispatchJson(create('shared', 'same-key'))));
  assert.equal(new Set(made.map(String)).size, 1);
  assert.equal(read(await one.dispatchJson(create('mine'))).ok, true);
  assert.equal(read(await two.dispatchJson(get('mine'))).ok, true);
  await one.close();
  assert.equal(read(await two.dispatchJson(create('after'))).ok, true);
  await two.close();
});

test('what was answered to a process that was killed is there', async () => {
  const file = fresh();
  const script = `
    import { Host } from 'agenthost';
    const host = await Host.open(process.env.FILE);
    for (let n = 0; ; n++) {
      const request = { protocolVersion: '2026-07-01', requestId: 'r', idempotencyKey: 'k' + n, operation: 'create_run', body: { context: { runId: 'run-' + n } } };
      const response = JSON.parse(await host.dispatchJson(JSON.stringify(request)));
      if (!response.ok) throw new Error(JSON.stringify(response));
      console.log(n);
    }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: here, env: { ...process.env, FILE: `sqlite:${file}` }, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    if (output.split('\n').length > 100) child.kill('SIGKILL');
  });
  const [, signal] = await once(child, 'close');
  assert.equal(signal, 'SIGKILL');
  const last = output.split('\n').length - 2;
  assert.ok(last >= 99);
  const host = await Host.open(`sqlite:${file}`);
  for (let n = 0; n <= last; n++) assert.equal(read(host.dispatchJsonSync(get(`run-${n}`))).body.status, 'created');
  const retried = read(await host.dispatchJson(JSON.stringify({ protocolVersion: '2026-07-01', requestId: 'r', idempotencyKey: 'k0', operation: 'create_run', body: { context: { runId: 'run-0' } } })));
  assert.deepEqual(retried.body, { runId: 'run-0', revision: 1, status: 'created' });
  await host.close();
});

test('causes that callers do not get are logged', async () => {
  const { records, onLog } = keeper();
  const file = fresh();
  const host = await Host.open(`sqlite:${file}`, { onLog });
  assert.equal(read(await host.dispatchJson(create('a'))).ok, true);
  const child = spawn('python3', ['-c', 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("DROP TABLE event"); db.commit()', file], { stdio: 'inherit' });
  await once(child, 'exit');
  const response = read(await host.dispatchJson(message('list_events', { runId: 'a' })));
  assert.equal(response.error.code, 'internal');
  for (let turn = 0; turn < 500 && records.length === 0; turn++) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(records[0].level, 'error');
  assert.match(JSON.stringify(records[0].fields), /event/);
  assert.doesNotMatch(JSON.stringify(response), /store|no such table/);
  await host.close();
});

test('a host that the log hook opens while another is refused is not taken for it', async () => {
  const file = fresh();
  const opened = [];
  const host = await Host.open(`sqlite:${file}`, { onLog: () => void opened.push(Host.open('memory:')) });
  assert.equal(read(await host.dispatchJson(create('a'))).ok, true);
  const child = spawn('python3', ['-c', 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("DROP TABLE event"); db.commit()', file], { stdio: 'inherit' });
  await once(child, 'exit');
  const failing = host.dispatchJson(message('list_events', { runId: 'a' }));
  const refused = assert.rejects(Host.open(`sqlite:${join(folder, 'no', 'such', 'runs.db')}`), { code: 'ERR_AGENTHOST_STORE' });
  // The loop stands still until the failure is logged and the other host is refused: both come at once.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  await failing;
  await refused;
  await host.close();
  assert.ok(opened.length > 0);
  for (const other of opened) {
    const host = await other;
    assert.equal(read(await host.dispatchJson(create('b'))).ok, true);
    await host.close();
  }
});

test('operators see and change every run, others their own', async () => {
  const host = await Host.open('memory:', { operators: ['root', 'ops'], requirePrincipal: true });
  const as = (principal) => new Client((bytes, { signal }) => host.dispatchJson(bytes, { principal, signal }));
  await as('alice').createRun({ context: { runId: 'a' } });
  assert.equal((await as('ops').getRun({ runId: 'a' })).runId, 'a');
  await assert.rejects(as('mallory').getRun({ runId: 'a' }), { code: 'not_found' });
  assert.equal((await as('root').cancelRun({ runId: 'a', expectedRevision: 1 })).status, 'cancelled');
  await host.close();
  for (const operators of ['root', null, [7], ['\ud800']]) await assert.rejects(Host.open('memory:', { operators }), /^TypeError: Host\.open: operators/);
});

test('one list of sensitive names holds for the host and for what is stored', async () => {
  const file = fresh();
  const host = await Host.open(`sqlite:${file}`, { sensitiveNames: ['pin'] });
  const client = new Client(host.dispatchJson);
  for (const request of [{ context: { runId: 'a', metadata: { pin: '1234' } } }, { context: { runId: 'a' }, metadata: { PIN: '1234' } }]) {
    await client.createRun(request).catch(({ code }) => assert.equal(code, 'invalid_request'));
  }
  await host.close();
  assert.equal(readFileSync(file).includes('1234'), false);
});

test('a forked Node opens the file that its parent has open', async () => {
  const file = fresh();
  const host = await Host.open(`sqlite:${file}`);
  assert.equal(read(await host.dispatchJson(create('parent'))).ok, true);
  const script = join(folder, 'forked.mjs');
  writeFileSync(script, `
    import { Host } from '${new URL('../package/index.mjs', import.meta.url)}';
    const host = await Host.open(process.env.FILE);
    const responses = [await host.dispatchJson(process.env.GET), await host.dispatchJson(process.env.CREATE)];
    await host.close();
    process.send(responses.map((response) => JSON.parse(response).ok));
    process.disconnect();`);
  const child = fork(script, { env: { ...process.env, FILE: `sqlite:${file}`, GET: get('parent'), CREATE: create('child') } });
  assert.deepEqual((await once(child, 'message'))[0], [true, true]);
  assert.equal(read(await host.dispatchJson(get('child'))).ok, true);
  await host.close();
});

test('a conflict says why, and what to go on with', async () => {
  const host = await Host.open('memory:');
  const client = new Client(host.dispatchJson);
  await client.createRun({ context: { runId: 'a' } }, { idempotencyKey: 'one' });
  const conflict = async (call) => {
    const error = await call.catch((thrown) => thrown);
    assert.equal(error.code, 'conflict');
    return error.conflict;
  };
  // A client that has read further than the run goes: it was purged, and created again.
  assert.deepEqual(await conflict(client.listEvents({ runId: 'a', afterSequence: 7 })), { reason: 'cursor_ahead', headSequence: 1 });
  assert.deepEqual(await conflict(client.cancelRun({ runId: 'a', expectedRevision: 5 })), { reason: 'revision_mismatch', currentRevision: 1 });
  assert.equal((await conflict(client.createRun({ context: { runId: 'b' } }, { idempotencyKey: 'one' }))).reason, 'idempotency_mismatch');
  await client.cancelRun({ runId: 'a', expectedRevision: 1 });
  const { reason, status } = await conflict(client.resumeRun({ runId: 'a', expectedRevision: 2, approvalId: 'x' }));
  assert.deepEqual([reason, status], ['invalid_state', 'cancelled']);
  await assert.rejects(client.getRun({ runId: 'c' }), ({ conflict: none }) => none === undefined);
  await host.close();
});

const ENDS = {
  'process.exit': 'for (const host of hosts) host.dispatchJson(process.env.CREATE); process.exit(7);',
  'the end of the work': `
    const controller = new AbortController();
    for (const host of hosts) host.dispatchJson(process.env.CREATE, { signal: controller.signal });
    controller.abort();
    process.stdin.destroy();
    process.exitCode = 7;`,
};

for (const [name, end] of Object.entries(ENDS)) {
  test(`${name} while another program holds the files takes a second, not each file its time`, async () => {
    const names = Array.from({ length: 6 }, fresh);
    const script = `
      import { Host } from 'agenthost';
      const hosts = await Promise.all(JSON.parse(process.env.FILES).map((file) => Host.open('sqlite:' + file)));
      console.log('open');
      process.stdin.once('data', () => { ${end} });`;
    const env = { ...process.env, FILES: JSON.stringify(names), CREATE: create('waits') };
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: here, env, stdio: ['pipe', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    const unlocks = await Promise.all(names.map(locked));
    const started = performance.now();
    child.stdin.write('now');
    assert.deepEqual(await once(child, 'exit'), [7, null]);
    // Each of the files would take its five seconds and more.
    assert.ok(performance.now() - started < 20_000, `the exit took ${performance.now() - started} ms`);
    await Promise.all(unlocks.map((unlock) => unlock()));
  });
}

test('nothing of the URL is in what is shown, and a durable host cannot be posted', async () => {
  const file = fresh();
  const host = await Host.open(`sqlite:${file}`);
  assert.equal(inspect(host).includes(file), false);
  assert.equal(inspect(host, { showHidden: true, depth: 5 }).includes(file), false);
  const { port1 } = new MessageChannel();
  assert.throws(() => port1.postMessage(host), { name: 'DataCloneError' });
  port1.close();
  await host.close();
});

const INSIDE = `
  import { Host } from 'agenthost';
  import { message, read } from './support.mjs';
  const create = (runId) => message('create_run', { context: { runId }, input: { n: 1 } }, { idempotencyKey: runId });
`;

test('the process exits by itself when nobody waits, and not before', async () => {
  const ended = await run(`${INSIDE}
    const host = await Host.open(process.env.FILE);
    host.dispatchJson(create('a')).then((response) => console.log(read(response).ok));
    process.on('exit', () => console.log('exit'));`, { env: { FILE: `sqlite:${fresh()}` } });
  assert.deepEqual([ended.code, ended.stdout, ended.stderr], [0, 'true\nexit\n', '']);
  const opened = await run(`${INSIDE} Host.open(process.env.FILE).then(() => console.log('open'));`, { env: { FILE: `sqlite:${fresh()}` } });
  assert.deepEqual([opened.code, opened.stdout, opened.stderr], [0, 'open\n', '']);
  const closed = await run(`${INSIDE} const host = await Host.open('memory:'); host.close().then(() => console.log('closed'));`);
  assert.deepEqual([closed.code, closed.stdout, closed.stderr], [0, 'closed\n', '']);
});

test('process.exit does not wait for calls in flight; what was answered is written, and the file is whole', async () => {
  const file = fresh();
  const ended = await run(`${INSIDE}
    const host = await Host.open(process.env.FILE);
    await host.dispatchJson(create('answered'));
    for (let n = 0; n < 50; n++) host.dispatchJson(create('run-' + n));
    process.on('exit', () => host.dispatchJsonSync('{'));
    process.exit(7);`, { env: { FILE: `sqlite:${file}` } });
  assert.deepEqual([ended.code, ended.signal, ended.stderr], [7, null, '']);
  const host = await Host.open(`sqlite:${file}`);
  assert.equal(read(host.dispatchJsonSync(get('answered'))).ok, true);
  assert.equal(read(host.dispatchJsonSync(create('run-49', 'run-49'))).body.revision, 1);
  await host.close();
});

const WORKER = `${INSIDE}
  import { parentPort, workerData } from 'node:worker_threads';
  const host = await Host.open(workerData.url);
  for (let n = 0; n < 20; n++) if (!read(await host.dispatchJson(create(workerData.name + n))).ok) throw new Error('not created');
  parentPort.postMessage('ready');
  for (let n = 20; ; n++) await Promise.all([host.dispatchJson(create(workerData.name + n)), host.dispatchJson(create(workerData.name + n + 'b'))]);
`;

function worker(workerData) {
  const script = WORKER.replaceAll("'./support.mjs'", `'${new URL('support.mjs', import.meta.url)}'`).replaceAll("'agenthost'", `'${new URL('../package/index.mjs', import.meta.url)}'`);
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`), { workerData });
}

test('workers that are ended during calls close their hosts, and disturb nobody', async () => {
  const file = fresh();
  const host = await Host.open(`sqlite:${file}`);
  const workers = Array.from({ length: 6 }, (_, index) => worker({ url: index % 3 === 2 ? 'memory:' : `sqlite:${file}`, name: `w${index}-` }));
  await Promise.all(workers.map(async (each) => assert.deepEqual(await once(each, 'message'), ['ready'])));
  const mine = Array.from({ length: 50 }, (_, index) => host.dispatchJson(create(`main-${index}`)));
  await Promise.all(workers.map((each) => each.terminate()));
  for (const response of await Promise.all(mine)) assert.equal(read(response).ok, true);
  assert.equal(read(host.dispatchJsonSync(get('w0-19'))).ok, true);
  await host.close();
  // The last host on a file takes its log away: the workers' hosts are closed too, perhaps behind their ends.
  for (let turn = 0; turn < 500 && existsSync(`${file}-wal`); turn++) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(existsSync(`${file}-wal`), false);
});

/** A script whose log hook runs `hook` when a table of the file is gone; the file's name is in FILE. */
const LOGS = (hook) => `
  import { Host } from '${new URL('../package/index.mjs', import.meta.url)}';
  import { message } from '${new URL('support.mjs', import.meta.url)}';
  import { execFileSync } from 'node:child_process';
  import { workerData } from 'node:worker_threads';
  const file = workerData?.file ?? process.env.FILE;
  const host = await Host.open('sqlite:' + file, { onLog() { ${hook} } });
  await host.dispatchJson(message('create_run', { context: { runId: 'a' } }));
  execFileSync('python3', ['-c', 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("DROP TABLE event"); db.commit()', file]);
  for (;;) await host.dispatchJson(message('list_events', { runId: 'a' }));`;

test('process.exit in the log hook of a durable host ends the process as it says', async () => {
  const ended = await run(LOGS('process.exit(7);'), { env: { FILE: fresh() } });
  assert.deepEqual([ended.code, ended.signal, ended.stderr], [7, null, '']);
});

test('a worker is ended while the log hook of its durable host does not come back', async () => {
  const inside = new Int32Array(new SharedArrayBuffer(4));
  const script = LOGS('workerData.inside[0] = 1; for (;;);');
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`), { workerData: { file: fresh(), inside } });
  while (Atomics.load(inside, 0) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(await worker.terminate(), 1);
});

test('a worker that only opens, and one that ends while it opens, are clean', async () => {
  const ended = await run(`
    import { Worker } from 'node:worker_threads';
    for (let round = 0; round < 20; round++) {
      const worker = new Worker("import('agenthost').then(({ Host }) => { Host.open(process.env.FILE); require('node:worker_threads').parentPort.postMessage(0); })", { eval: true, execArgv: [] });
      await new Promise((resolve) => worker.once('message', resolve));
      if (round % 2 === 0) await worker.terminate();
      else await new Promise((resolve) => worker.once('exit', resolve));
    }
    console.log('clean');`, { env: { FILE: `sqlite:${fresh()}` } });
  assert.deepEqual([ended.code, ended.signal, ended.stdout, ended.stderr], [0, null, 'clean\n', '']);
});

test('a host that is forgotten is closed by the collector', async () => {
  const file = fresh();
  const ended = await run(`${INSIDE}
    import { existsSync } from 'node:fs';
    await (async () => { const host = await Host.open('sqlite:' + process.env.FILE); await host.dispatchJson(create('a')); })();
    for (let turn = 0; turn < 500 && existsSync(process.env.FILE + '-wal'); turn++) { gc(); await new Promise((resolve) => setTimeout(resolve, 10)); }
    console.log(existsSync(process.env.FILE + '-wal'));`, { args: ['--expose-gc'], env: { FILE: file } });
  assert.deepEqual([ended.code, ended.stdout, ended.stderr], [0, 'false\n', '']);
});
