// HostError: what it holds, and how it is known.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Host, HostError } from 'agenthost';
import { GET_RUN, read, service } from './support.mjs';

test('a HostError is an Error with its members', () => {
  const cause = new Error('why');
  const error = new HostError('not_found', 'no such run', { retryable: true, details: { a: 1 }, metadata: { b: '2' }, cause });
  assert.ok(error instanceof Error && error instanceof HostError);
  const { name, code, message, retryable, details, metadata } = error;
  assert.deepEqual({ name, code, message, retryable, details, metadata },
    { name: 'HostError', code: 'not_found', message: 'no such run', retryable: true, details: { a: 1 }, metadata: { b: '2' } });
  assert.equal(error.cause, cause);
  assert.match(error.stack, /HostError: no such run/);
});

test('its defaults are those of the contract', () => {
  const { retryable, details, metadata, cause } = new HostError('conflict', '');
  assert.deepEqual({ retryable, details, metadata, cause }, { retryable: false, details: {}, metadata: {}, cause: undefined });
});

test('an unknown code, a misspelled option, a wrong type are refused', () => {
  assert.throws(() => new HostError('notfound', 'x'), /unknown code "notfound"; known are invalid_request,.*internal/);
  assert.throws(() => new HostError('conflict', 'x', { retriable: true }), /unknown option "retriable"/);
  assert.throws(() => new HostError('conflict'), /expected a message as a string, found undefined/);
  assert.throws(() => new HostError('conflict', 'x', { retryable: 1 }), /retryable/);
  assert.throws(() => new HostError('conflict', 'x', { detailsJson: {} }), /detailsJson/);
});

test('details given as text are parsed when they are read', () => {
  const error = new HostError('conflict', 'x', { detailsJson: '{"n":1}' });
  assert.deepEqual(error.details, { n: 1 });
  assert.equal(error.detailsJson, '{"n":1}');
  error.details = { n: 2 };
  assert.equal(error.detailsJson, undefined);
});

test('HostError.is knows errors of another copy of the package, and nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agenthost-'));
  try {
    cpSync(fileURLToPath(new URL('../package', import.meta.url)), join(folder, 'agenthost'), { recursive: true });
    symlinkSync(fileURLToPath(new URL('../node_modules', import.meta.url)), join(folder, 'node_modules'));
    const other = createRequire(import.meta.url)(join(folder, 'agenthost'));
    assert.notEqual(other.HostError, HostError);
    const error = new other.HostError('forbidden', 'not you');
    assert.equal(error instanceof HostError, false);
    assert.equal(HostError.is(error), true);
    assert.equal(other.HostError.is(new HostError('forbidden', 'not you')), true);
    const host = new Host(service({ getRun() { throw error; } }));
    assert.equal(read(await host.dispatchJson(GET_RUN)).error.code, 'forbidden');
  } finally {
    rmSync(folder, { recursive: true });
  }
  const hostile = new Proxy({}, { get() { throw new Error('no'); } });
  for (const value of [undefined, null, 1, 'x', {}, new Error('x'), { code: 'conflict' }, hostile]) assert.equal(HostError.is(value), false);
});

test('subclasses are HostErrors', () => {
  class Gone extends HostError {}
  assert.equal(HostError.is(new Gone('not_found', 'gone')), true);
});
