// The contract's vectors, played through a Host with a synchronous and an asynchronous service, and through the client's
// functions. AGENTHOST_VECTORS names another folder. Ends with `node: N passed, M failed`; a vector passes when it does so
// in every way that it is played.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decodeResponse, Host } from 'agenthost';
import { equal, parse, stringify } from './lossless.mjs';
import { script } from './script.mjs';

const MEMBERS = ['protocolVersion', 'requestId', 'operation', 'ok', 'body', 'error'];
const folder = process.env.AGENTHOST_VECTORS || fileURLToPath(new URL('../../../../tests/vectors', import.meta.url));

function expect(what, expected, found) {
  if (found === undefined || !equal(expected, found)) {
    throw new Error(`${what}: expected ${stringify(expected)}, found ${found === undefined ? 'nothing' : stringify(found)}`);
  }
}

function message(text, base64) {
  return text === undefined ? Buffer.from(base64, 'base64') : text;
}

const WAYS = {
  asynchronous: (host, request) => host.dispatchJson(request),
  'asynchronous service, bytes': (host, request) => host.dispatchJson(Buffer.from(request)),
  synchronous: (host, request) => host.dispatchJsonSync(request),
  'synchronous service, promise': (host, request) => host.dispatchJson(request),
};

/** Durable runs: what is refused before the service is refused by them in the same bytes. */
const durable = await Host.open('memory:');

async function playRefusal(request) {
  const expected = new Host(script(undefined, [], false)).dispatchJsonSync(request);
  for (const found of [await durable.dispatchJson(request), durable.dispatchJsonSync(request)]) {
    if (!expected.equals(found)) throw new Error(`durable: expected ${expected}, found ${found}`);
  }
}

async function playDispatch(vector) {
  const request = message(vector.request, vector.request_base64);
  if (vector.call === null) await playRefusal(request);
  for (const [way, dispatch] of Object.entries(WAYS)) {
    const seen = [];
    const host = new Host(script(vector.reply, seen, way.startsWith('asynchronous')), { onLog() {} });
    try {
      const response = await dispatch(host, request);
      if (seen.length > 1) throw new Error('the service was called more than once');
      expect('call', vector.call, seen.length === 0 ? null : parse(stringify(seen[0])));
      checkResponse(vector, response);
    } catch (error) {
      error.message = `${way}: ${error.message}`;
      throw error;
    }
    await host.close();
  }
}

function checkResponse(vector, bytes) {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  const found = parse(text);
  const { response } = vector;
  if (Object.keys(found).sort().join() !== [...MEMBERS].sort().join()) throw new Error(`members ${Object.keys(found)}`);
  for (const name of ['ok', 'requestId', 'operation']) if (response[name] !== '*') expect(name, response[name], found[name]);
  decodeResponse(bytes);
  if (response.ok) {
    expect('error', null, found.error);
    expect('body', response.body, found.body);
    return;
  }
  expect('body', {}, found.body);
  for (const name of ['code', 'retryable', 'details']) if (response[name] !== undefined) expect(name, response[name], found.error[name]);
  for (const [name, expected] of Object.entries(response.error ?? {})) expect(name, expected, found.error[name]);
  if (vector.call === null && found.error.message === '') throw new Error('a refusal without a message');
  if (found.error.code === 'internal') nothingLeaks(vector.reply?.error, text);
}

/** Of an `internal` error nothing that the service said may be in the response. */
function nothingLeaks(error, text) {
  if (error === undefined) return;
  const told = [error.message, ...Object.values(error.details ?? {}).map(stringify), ...Object.values(error.metadata ?? {}).map(stringify)];
  for (const secret of told) if (secret.length > 3 && text.includes(secret)) throw new Error(`the response tells ${secret}`);
}

async function playClient({ response_text, response_base64, expect: wanted }) {
  const found = receive(message(response_text, response_base64));
  expect('outcome', wanted.outcome, found.outcome);
  if (wanted.decoded !== undefined) expect('decoded', wanted.decoded, found.decoded);
  for (const [name, expected] of Object.entries(wanted.error ?? {})) expect(name, expected, found.error[name]);
}

function receive(data) {
  let response;
  try {
    response = decodeResponse(data);
  } catch (error) {
    if (error.name !== 'BadResponse') throw error;
    return { outcome: 'rejected' };
  }
  const { ok, body, error } = response;
  if (ok) return { outcome: 'ok', decoded: parse(stringify(exact(body))) };
  const { code, message: told, retryable, metadata, originalCode = '' } = error;
  return { outcome: 'error', error: { code, message: told, retryable, details: parse(error.detailsJson), metadata, originalCode } };
}

/** A decoded body with its free JSON from the exact text. */
function exact(body) {
  if (body.resultJson !== undefined) return { ...body, result: parse(body.resultJson) };
  if (body.events !== undefined) return { ...body, events: body.events.map((event) => ({ ...event, data: parse(event.dataJson) })) };
  return body;
}

let passed = 0;
let failed = 0;
for (const file of readdirSync(folder).filter((name) => name.endsWith('.jsonl')).sort()) {
  for (const line of readFileSync(join(folder, file), 'utf8').split('\n').filter((text) => text.trim() !== '')) {
    const vector = parse(line);
    const play = 'expect' in vector ? playClient : playDispatch;
    try {
      await play(vector);
      passed++;
    } catch (error) {
      failed++;
      console.log(`node: FAILED ${vector.name}: ${error.message}`);
    }
  }
}
if (passed === 0) {
  failed++;
  console.log(`node: FAILED the vectors: none passed in ${folder}`);
}
console.log(`node: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
