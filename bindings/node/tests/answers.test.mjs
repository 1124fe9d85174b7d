// Answers that nobody should give: each is `internal` out, with the cause in the log and nothing of it in the response.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Host } from 'agenthost';
import { event, GET_RUN, CREATE_RUN, keeper, message, read, service, view } from './support.mjs';

const SECRET = 'hunter2-do-not-tell';

async function dispatch(own, text = GET_RUN) {
  const { records, onLog } = keeper();
  const sync = new Host(service(own), { onLog });
  const async = new Host(service(Object.fromEntries(Object.entries(own).map(([name, method]) => [name, async (...all) => method(...all)]))), { onLog });
  const responses = [await sync.dispatchJson(text), sync.dispatchJsonSync(text), await async.dispatchJson(text)].map((bytes) => read(bytes));
  for (const response of responses) assert.deepEqual(response, responses[0]);
  return { response: responses[0], records };
}

async function refused(own, cause, text) {
  const { response, records } = await dispatch(own, text);
  assert.equal(response.ok, false);
  assert.equal(response.error.code, 'internal');
  assert.deepEqual(response.error.details, {});
  assert.doesNotMatch(JSON.stringify(response), new RegExp(SECRET));
  assert.equal(records.length, 3);
  for (const record of records) {
    assert.equal(record.level, 'error');
    assert.match(JSON.stringify([record.message, record.fields]), cause);
  }
  return records;
}

const run = (more) => ({ getRun: () => view('run-1', more) });

test('no result at all', async () => {
  await refused({ getRun() {} }, /getRun answered what cannot be sent.*undefined; did the method return it\?/);
  await refused({ getRun: () => null }, /found null/);
  await refused({ getRun: () => [view('run-1')] }, /found an array/);
  await refused({ getRun: () => JSON.stringify(view('run-1')) }, /found a string/);
  await refused({ getRun: () => () => view('run-1') }, /found a function/);
});

test('a getter that throws', async () => {
  const hostile = { ...view('run-1'), get revision() { throw new Error(SECRET); } };
  const records = await refused({ getRun: () => hostile }, /hunter2/);
  assert.equal(records[0].cause.message, SECRET);
  await refused(run({ get result() { throw new Error(SECRET); } }), /hunter2/);
});

test('a cycle', async () => {
  const cycle = {};
  cycle.self = cycle;
  await refused(run({ result: cycle }), /circular/);
  const list = [];
  list.push(list);
  await refused({ listEvents: () => ({ events: [event(1, { data: list })], nextSequence: 1, hasMore: false }) }, /circular/, message('list_events', { runId: 'run-1' }));
});

test('a BigInt', async () => {
  await refused(run({ revision: 1n }), /BigInt/);
  await refused(run({ result: { n: 1n } }), /BigInt/);
});

test('NaN and infinities, which JSON would turn into null', async () => {
  await refused(run({ revision: NaN }), /revision: expected JSON, found NaN/);
  await refused(run({ completedAtUnixMs: NaN }), /completedAtUnixMs: expected JSON, found NaN/);
  await refused(run({ context: { runId: 'run-1', deadlineUnixMs: Infinity } }), /context\.deadlineUnixMs/);
  await refused(run({ result: { deep: [0, { n: -Infinity }] } }), /result\.deep\.1\.n: expected JSON, found -Infinity/);
});

test('undefined is an absent member, and nothing that an array can hold', async () => {
  const { response } = await dispatch(run({ error: undefined, approval: undefined, result: { a: undefined, b: 1 } }));
  assert.equal(response.body.error, '');
  assert.deepEqual(response.body.result, { b: 1 });
  await refused(run({ result: [1, undefined] }), /result\.1: expected JSON, found undefined/);
  await refused(run({ runId: undefined }), /runId/);
});

test('a function and a symbol', async () => {
  await refused(run({ result: { f() {} } }), /result\.f: expected JSON, found a function/);
  await refused(run({ result: [Symbol('s')] }), /result\.0: expected JSON, found a symbol/);
});

test('a Date is its text in free JSON, and no number', async () => {
  const { response } = await dispatch(run({ result: { at: new Date(0) } }));
  assert.deepEqual(response.body.result, { at: '1970-01-01T00:00:00.000Z' });
  await refused(run({ createdAtUnixMs: new Date(0) }), /createdAtUnixMs/);
});

test('built-in objects that JSON writes as if they were empty', async () => {
  for (const value of [new Map([[1, 2]]), new Set([1]), /x/, new Uint8Array(2), new ArrayBuffer(2), Promise.resolve(1), new WeakMap()]) {
    await refused(run({ result: { value } }), /result\.value: expected JSON, found a [A-Z]/);
  }
});

test('a class instance: its named members, also those behind accessors', async () => {
  class Row {
    #revision = 4;
    table = 'runs';
    runId = 'run-1';
    status = 'running';
    context = {};
    get revision() {
      return this.#revision;
    }
    toJSON() {
      return 'not asked';
    }
  }
  const { response } = await dispatch({ getRun: () => new Row() });
  assert.equal(response.body.revision, 4);
  assert.doesNotMatch(JSON.stringify(response), /table|not asked/);
});

test('a Proxy is read like an object, a hostile one is a failure', async () => {
  const { response } = await dispatch({ getRun: () => new Proxy(view('run-1'), {}) });
  assert.equal(response.body.runId, 'run-1');
  const trap = () => {
    throw new Error(SECRET);
  };
  await refused({ getRun: () => new Proxy(view('run-1'), { get: (target, name) => (name === 'then' ? undefined : trap()) }) }, /hunter2/);
  await refused(run({ result: new Proxy({}, { ownKeys: trap }) }), /hunter2/);
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  await refused(run({ context: proxy }), /revoked/);
});

test('extra members stay here, whatever they are', async () => {
  const cycle = {};
  cycle.self = cycle;
  const { response } = await dispatch(run({ entity: cycle, n: 1n, password: SECRET }));
  assert.equal(response.ok, true);
  assert.doesNotMatch(JSON.stringify(response), new RegExp(`entity|password|${SECRET}`));
});

test('members of another type', async () => {
  for (const more of [{ revision: '1' }, { revision: 1.5 }, { revision: 0 }, { revision: 2 ** 53 }, { revision: true }, { status: 'done' }, { status: 1 }, { error: null },
    { metadata: { n: 1 } }, { metadata: [] }, { metadata: null }, { context: null }, { context: 'run-1' }, { approval: 'yes' }, { approval: {} }]) {
    await refused(run(more), new RegExp(Object.keys(more)[0]));
  }
  await refused({ listEvents: () => ({ events: { 0: event(1) }, nextSequence: 1, hasMore: false }) }, /events: expected an array, found an object/, message('list_events', { runId: 'run-1' }));
  await refused({ listEvents: () => ({ events: [null], nextSequence: 1, hasMore: false }) }, /events\.0: expected an event object, found null/, message('list_events', { runId: 'run-1' }));
});

test('ids with U+0000 and with lone surrogates', async () => {
  for (const runId of ['run\u0000-1', 'run-\ud800', '\udfff', '']) {
    await refused({ createRun: () => ({ runId, revision: 1, status: 'created' }) }, /runId|surrogate/, CREATE_RUN);
  }
  await refused(run({ error: 'half \ud83d' }), /surrogate/);
  await refused(run({ result: { text: '\ude00' } }), /surrogate/);
  await refused(run({ metadata: { '\ud800': 'x' } }), /surrogate/);
  // Two halves make a whole only in one text.
  await refused(run({ error: 'half \ud83d', metadata: { '\ude00 half': 'x' } }), /surrogate/);
});

test('whole surrogate pairs and all other text arrive as they are', async () => {
  const text = '😀 \u0000 \u2028 é ﷐ "\\\n\u007f';
  const { response } = await dispatch(run({ error: text, result: { [text]: text }, metadata: { [text]: text } }));
  assert.equal(response.body.error, text);
  assert.deepEqual(response.body.result, { [text]: text });
  assert.deepEqual(response.body.metadata, { [text]: text });
});

test('a result that nests too deep', async () => {
  let deep = 1;
  for (let level = 0; level < 101; level++) deep = [deep];
  await refused(run({ result: deep }), /nesting/);
  for (let level = 0; level < 100_000; level++) deep = [deep];
  await refused(run({ result: deep }), /call stack/);
});

test('a response over the size limit', async () => {
  const { records, onLog } = keeper();
  const host = new Host(service(run({ result: 'x'.repeat(2000) })), { onLog, maxMessageBytes: 2000 });
  assert.equal(read(await host.dispatchJson(GET_RUN)).error.code, 'internal');
  assert.match(JSON.stringify(records), /2000 bytes/);
});

test('an answer leaves as it is, whatever characters are in it', async () => {
  const texts = ['\u0001', 'a\u0001b\u0001', '\u0000', '"\\\n', 'é', '日本', '\u{1f600}', 'x'.repeat(20_000), 'é'.repeat(20_000), '\u{1f600}'.repeat(6000)];
  for (const text of texts) {
    const more = { error: text, context: { runId: 'run-1', traceId: text, locale: text, metadata: { [`m${text}`]: text } }, metadata: { a: text, [`n${text}`]: text }, result: { [text]: text } };
    const { response, records } = await dispatch(run(more));
    assert.deepEqual(records, []);
    const { error, context, metadata, result } = response.body;
    assert.deepEqual([error, context.traceId, context.locale, context.metadata, metadata, result], [text, text, text, more.context.metadata, more.metadata, more.result]);
  }
  await refused(run({ error: '\ud800' }), /surrogate|Unicode|escape/i);
});

test('numbers of any size and kind are taken or refused as they are', async () => {
  const { response } = await dispatch(run({ revision: Number.MAX_SAFE_INTEGER, createdAtUnixMs: -0, updatedAtUnixMs: -8.64e15, completedAtUnixMs: 8.64e15, result: 1e300 }));
  const { revision, createdAtUnixMs, updatedAtUnixMs, completedAtUnixMs, result } = response.body;
  assert.deepEqual([revision, createdAtUnixMs, updatedAtUnixMs, completedAtUnixMs, result], [Number.MAX_SAFE_INTEGER, 0, -8.64e15, 8.64e15, 1e300]);
  for (const revision of [0, -1, 1.5, 2 ** 60, 1e21, '1', true, null]) await refused(run({ revision }), /revision/);
  for (const updatedAtUnixMs of [0.5, 8.64e15 + 2, 1e21, '0', null]) await refused(run({ updatedAtUnixMs }), /updatedAtUnixMs/);
  await refused({ createRun: () => ({ runId: 'run-1', revision: 1e21, status: 'running' }) }, /revision/, CREATE_RUN);
  await refused({ createRun: () => ({ runId: 'run-1', revision: 1, status: 'done' }) }, /status/, CREATE_RUN);
});

test('metadata is what JSON makes of it', async () => {
  class Labels {
    a = '1';
  }
  assert.deepEqual((await dispatch(run({ metadata: new Labels() }))).response.body.metadata, { a: '1' });
  assert.deepEqual((await dispatch(run({ metadata: Object.assign(Object.create(null), { b: '2' }) }))).response.body.metadata, { b: '2' });
  assert.deepEqual((await dispatch(run({ metadata: { toJSON: () => ({ c: '3' }) } }))).response.body.metadata, { c: '3' });
  for (const metadata of [{ a: 1 }, { a: null }, [], 'x', null, { a: { b: '' } }]) await refused(run({ metadata }), /metadata/);
});

test('text of any length and of any letters arrives as it is', async () => {
  const texts = ['', 'a', 'ä', '\u0001', '\u007f', 'z'.repeat(32), 'z'.repeat(33), 'z'.repeat(127), '€'.repeat(127), '🎉'.repeat(40_000), 'z'.repeat(40_000)];
  for (const text of texts) {
    const metadata = { [`n${text.slice(0, 80)}`]: text, 'ключ': 'значение' };
    const { body } = (await dispatch(run({ error: text, result: { [text]: [text] }, metadata }))).response;
    assert.deepEqual([body.error, body.result, body.metadata], [text, { [text]: [text] }, metadata]);
  }
});

test('numbers of any size arrive as they are', async () => {
  for (const time of [0, -1, 127, 128, 2 ** 28 - 1, 2 ** 28, -(2 ** 31), 2 ** 32, 8.64e15, -8.64e15]) {
    const { body } = (await dispatch(run({ revision: Number.MAX_SAFE_INTEGER, createdAtUnixMs: time, completedAtUnixMs: time }))).response;
    assert.deepEqual([body.revision, body.createdAtUnixMs, body.completedAtUnixMs], [Number.MAX_SAFE_INTEGER, time, time]);
  }
});

test('an approval and events arrive as they are', async () => {
  const approval = {
    approvalId: 'approval-1', toolCallId: 'call-1', toolName: 'shell', resolution: 'denied', reason: 'nein 🎉', createdAtUnixMs: 5, resolvedAtUnixMs: 6,
    metadata: { by: 'alice' },
  };
  assert.deepEqual((await dispatch(run({ approval }))).response.body.approval, approval);
  const events = Array.from({ length: 200 }, (_, index) => ({
    runId: 'run-1', sequence: index + 1, type: 'tool.called', status: 'running', stepId: '', toolCallId: `call-${index}`, timestampUnixMs: index,
    data: index % 2 === 0 ? { text: 'ü'.repeat(index) } : null, metadata: { index: String(index) },
  }));
  const page = { events, nextSequence: 200, hasMore: true };
  assert.deepEqual((await dispatch({ listEvents: () => page }, message('list_events', { runId: 'run-1' }))).response.body, page);
  await refused({ listEvents: () => ({ events: [event(1), event(2, { data: [1, [NaN]] })], nextSequence: 2 }) }, /events\.1\.data\.1\.0/, message('list_events', { runId: 'run-1' }));
});

test('metadata of many pairs', async () => {
  for (const pairs of [126, 127, 1000, 10_000]) {
    const metadata = Object.fromEntries(Array.from({ length: pairs }, (_, index) => [`name ${index}`, `value ${index}`]));
    assert.deepEqual((await dispatch(run({ metadata }))).response.body.metadata, metadata);
  }
  const inherited = Object.create({ a: '1' }, { b: { value: '2', enumerable: true } });
  assert.deepEqual((await dispatch(run({ metadata: inherited }))).response.body.metadata, { b: '2' });
});

test('an answer that dispatches while it is read', async () => {
  const inner = new Host(service({ getRun: () => view('run-1', { error: 'inner '.repeat(50) }) }));
  const asked = { ...view('run-1', { error: 'outer' }), get context() { return { runId: read(inner.dispatchJsonSync(GET_RUN)).body.runId, userId: 'alice' }; } };
  const { body } = (await dispatch({ getRun: () => asked })).response;
  assert.deepEqual([body.error, body.context.userId], ['outer', 'alice']);
});

test('an answer that begins a call which is answered later, while it is read', async () => {
  const inner = new Host(service({ createRun: () => new Promise(() => {}) }));
  const call = message('create_run', { context: { runId: 'run-2', deadlineUnixMs: 5 } });
  const reads = (page) => ({ ...page, events: page.events.map((one) => ({ ...one, get stepId() { void inner.dispatchJson(call); return 'step'; } })) });
  const page = reads({ events: [event(1), event(2)], nextSequence: 2, hasMore: true });
  const { body } = (await dispatch({ listEvents: () => page }, message('list_events', { runId: 'run-1' }))).response;
  assert.deepEqual([body.nextSequence, body.hasMore, body.events.map((one) => one.stepId)], [2, true, ['step', 'step']]);
  await inner.close({ drainMs: 0 });
});

test('responses that are kept stay as they are', async () => {
  let turn = 0;
  const host = new Host(service({ getRun: () => view('run-1', { error: String(turn).repeat(turn % 900) }) }));
  const kept = [];
  for (turn = 1; turn < 500; turn++) kept.push(turn % 2 === 0 ? host.dispatchJsonSync(GET_RUN) : await host.dispatchJson(GET_RUN));
  kept.forEach((bytes, index) => assert.equal(read(bytes).body.error, String(index + 1).repeat((index + 1) % 900)));
});

test('a response that is given away takes no other with it', async () => {
  const host = new Host(service({ getRun: () => view('run-1') }));
  const responses = [host.dispatchJsonSync(GET_RUN), await host.dispatchJson(GET_RUN), host.dispatchJsonSync(GET_RUN)];
  try {
    structuredClone(responses[1], { transfer: [responses[1].buffer] });
  } catch (error) {
    assert.equal(error.name, 'DataCloneError');
  }
  for (const bytes of [...responses, host.dispatchJsonSync(GET_RUN)]) assert.equal(read(bytes).body.runId, 'run-1');
});
