// A service that answers what a vector tells it to, and keeps what it was asked.

import { HostError } from 'agenthost';
import { parse, plain, stringify } from './lossless.mjs';

const METHODS = ['createRun', 'getRun', 'cancelRun', 'resolveApproval', 'resumeRun', 'listEvents'];

/** A service whose methods answer at once, or through promises. */
export function script(reply, seen, asynchronous) {
  const answer = (request, call) => {
    seen.push({
      operation: call.operation,
      context: { requestId: call.requestId, idempotencyKey: call.idempotencyKey, metadata: call.metadata },
      request: asVector(request),
    });
    if (reply?.ok !== undefined) return result(reply.ok);
    if (reply?.error !== undefined) throw hostError(reply.error);
    throw new Error('the vector tells the service to fail');
  };
  const method = asynchronous ? async (...told) => answer(...told) : answer;
  return Object.fromEntries(METHODS.map((name) => [name, method]));
}

function asVector(request) {
  const { input: _, ...typed } = request;
  const lossless = parse(JSON.stringify(typed));
  if (request.inputJson !== undefined) lossless.input = parse(request.inputJson);
  return lossless;
}

/** A vector's result as a service gives it: typed members as plain values, free JSON as exact text. */
function result(ok) {
  const { result: free, ...typed } = ok;
  const given = plain(typed);
  if (free !== undefined) given.resultJson = stringify(free);
  given.events?.forEach?.((event, index) => {
    if (event === null || typeof event !== 'object' || !Object.hasOwn(event, 'data')) return;
    delete event.data;
    event.dataJson = stringify(ok.events[index].data);
  });
  return given;
}

function hostError({ code, message, retryable, details, metadata }) {
  return new HostError(code, message, { retryable, detailsJson: stringify(details), metadata: plain(metadata) });
}
