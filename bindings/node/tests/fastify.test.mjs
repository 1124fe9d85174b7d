// The Fastify example, over real HTTP.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { test } from 'node:test';
import { Client } from 'agenthost';
import { build } from '../examples/fastify/server.mjs';
import { GET_RUN, service, view } from './support.mjs';

const names = { 'Bearer alices-token': 'alice' };
const authenticate = ({ headers }) => names[headers.authorization];

async function serve(own) {
  const app = build(service(own), authenticate);
  const address = await app.listen({ port: 0, host: '127.0.0.1' });
  return { app, url: `${address}/agent-host` };
}

test('a client reaches the service over HTTP, with its principal', async () => {
  let principal;
  const { app, url } = await serve({ getRun: async ({ runId }, call) => ((principal = call.principal), view(runId)) });
  const client = new Client(async (body, { signal }) => {
    const response = await fetch(url, { method: 'POST', body, signal: signal ?? null, headers: { authorization: 'Bearer alices-token', 'content-type': 'application/json' } });
    return new Uint8Array(await response.arrayBuffer());
  });
  assert.equal((await client.getRun({ runId: 'run-1' })).runId, 'run-1');
  assert.equal(principal, 'alice');
  await app.close();
});

test('whatever is posted gets an envelope', async () => {
  const { app, url } = await serve();
  const post = async (body, headers = {}) => (await fetch(url, { method: 'POST', body, headers })).json();
  assert.equal((await post(GET_RUN)).error.code, 'unauthorized');
  const authorization = 'Bearer alices-token';
  assert.equal((await post('{"a":', { authorization, 'content-type': 'application/json' })).error.code, 'invalid_request');
  assert.equal((await post(undefined, { authorization })).error.code, 'invalid_request');
  assert.equal((await post(new Uint8Array([0xff, 0]), { authorization, 'content-type': 'image/png' })).error.code, 'invalid_request');
  assert.equal((await post(GET_RUN, { authorization })).ok, true);
  await app.close();
});

test('a caller that goes away aborts the signal of its call', async () => {
  let called;
  const calls = new Promise((resolve) => { called = resolve; });
  const { app, url } = await serve({ getRun: (_request, call) => new Promise(() => called(call)) });
  const posting = request(url, { method: 'POST', headers: { authorization: 'Bearer alices-token' } });
  posting.on('error', () => {});
  posting.end(GET_RUN);
  const { signal } = await calls;
  const aborted = once(signal, 'abort');
  posting.destroy();
  await aborted;
  assert.equal(signal.aborted, true);
  await app.close();
});
