// The vector runner can fail: a vector that says something else than the host is named, and so is an empty folder.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { equal, parse, stringify } from './conformance/lossless.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

function play(files) {
  const folder = mkdtempSync(join(tmpdir(), 'agenthost-'));
  for (const [name, lines] of Object.entries(files)) writeFileSync(join(folder, name), lines.join('\n'));
  return new Promise((resolve) => {
    execFile(process.execPath, [here('conformance/main.mjs')], { env: { ...process.env, AGENTHOST_VECTORS: folder } }, (error, stdout) => {
      rmSync(folder, { recursive: true });
      resolve({ code: error?.code ?? 0, stdout });
    });
  });
}

const lines = (name) => readFileSync(here(`../../../tests/vectors/${name}`), 'utf8').trim().split('\n');
const [dispatch] = lines('dispatch.jsonl').filter((line) => line.includes('"valid/get_run/full"'));
const [client] = lines('client.jsonl');

test('other vectors are taken from AGENTHOST_VECTORS', async () => {
  assert.deepEqual(await play({ 'dispatch.jsonl': [dispatch], 'client.jsonl': [client] }), { code: 0, stdout: 'node: 2 passed, 0 failed\n' });
});

test('a vector that expects something else fails, by its name', async () => {
  const changes = [
    [dispatch, (vector) => { vector.response.body.result.big -= 1n; }, /body: expected .*18446744073709551614/],
    [dispatch, (vector) => { vector.call.context.requestId = 'other'; }, /call: expected/],
    [dispatch, (vector) => { vector.response.ok = false; }, /ok: expected false/],
    [client, (vector) => { vector.expect.outcome = 'rejected'; }, /outcome: expected "rejected"/],
    [client, (vector) => { vector.expect.decoded.revision += 1n; }, /decoded: expected/],
  ];
  for (const [line, change, why] of changes) {
    const vector = parse(line);
    change(vector);
    const { code, stdout } = await play({ [line === client ? 'client.jsonl' : 'dispatch.jsonl']: [line, stringify(vector)] });
    assert.equal(code, 1);
    assert.match(stdout, new RegExp(`FAILED ${vector.name}`));
    assert.match(stdout, why);
    assert.match(stdout, /node: 1 passed, 1 failed\n$/);
  }
});

test('a folder without vectors is a failure', async () => {
  const { code, stdout } = await play({});
  assert.equal(code, 1);
  assert.match(stdout, /none passed in .*\nnode: 0 passed, 1 failed\n$/);
});

test('JSON is compared without loss', () => {
  assert.equal(equal(parse('9007199254740993'), parse('9007199254740992')), false);
  assert.equal(equal(parse('7'), parse('7.0')), true);
  assert.equal(equal(parse('{"a":1,"b":[null]}'), parse('{"b":[null],"a":1}')), true);
  assert.equal(equal(parse('{"a":1}'), parse('{"a":"1"}')), false);
  assert.equal(equal(parse('[1]'), parse('{"0":1}')), false);
  assert.equal(stringify(parse('{"n":18446744073709551615,"f":1.5,"s":"\\u0000"}')), '{"n":18446744073709551615,"f":1.5,"s":"\\u0000"}');
  for (const broken of ['', '{', '[1,]', '01', '"x', '{"a" 1}', '1 2']) assert.throws(() => parse(broken), SyntaxError);
});
