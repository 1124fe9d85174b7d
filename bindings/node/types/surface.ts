// What must compile and what must not, through the ES module entry. `surface.cts` does the same through CommonJS.

import {
  BadResponse, Client, decodeResponse, encodeRequest, Host, HostError, isSensitiveName, negotiateVersion, supportedVersions,
  type Call, type Conflict, type CreateRun, type DurableHost, type DurableOptions, type ErrorCode, type EventPage, type GivenRun, type Json, type RunSubmission, type RunView, type Service,
} from 'agenthost';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Equal<A, B>): void => {};

const submission: RunSubmission = { runId: 'r', revision: 1, status: 'running' };
const service: Service = {
  createRun: (request: CreateRun, call: Call) => {
    same<typeof request.input, Json>(true);
    same<typeof request.inputJson, string>(true);
    same<typeof call.principal, string | undefined>(true);
    call.signal.throwIfAborted();
    return submission;
  },
  getRun: async ({ runId }) => ({ runId, revision: 1, status: 'running', context: { runId }, resultJson: '1' }),
  cancelRun: async () => submission,
  resolveApproval: ({ resolution }) => {
    same<typeof resolution, 'approved' | 'denied'>(true);
    throw new HostError('conflict', 'no');
  },
  resumeRun: () => Promise.resolve(submission),
  listEvents: ({ afterSequence }) => ({ events: [{ runId: 'r', sequence: afterSequence + 1, type: 't', status: 'running', data: { any: [1] } }], nextSequence: 1 }),
};

// @ts-expect-error a method is missing
const missing: Service = { createRun: service.createRun };
// @ts-expect-error a result needs a revision
const incomplete: Service['createRun'] = () => ({ runId: 'r', status: 'running' });
// @ts-expect-error no such status
const status: Service['createRun'] = () => ({ runId: 'r', revision: 1, status: 'done' });
void [missing, incomplete, status];

// What people write: views and plain objects, at once and later, in one method; what has no value yet; frozen and narrower values.
declare const kept: Map<string, RunView>;
declare const view: RunView;
const either: Service['getRun'] = ({ runId }) => kept.get(runId) ?? { runId, revision: 1, status: 'created', context: { runId } };
const eitherLater: Service['getRun'] = async ({ runId }): Promise<RunView | GivenRun> => kept.get(runId) ?? { runId, revision: 1, status: 'created', context: { runId } };
const nowOrLater: Service['getRun'] = ({ runId }) => (runId === '' ? view : Promise.resolve(view));
const unset: Service['getRun'] = ({ runId }) => ({ runId, revision: 1, status: 'running', context: { runId, traceId: undefined, metadata: undefined }, approval: undefined, error: undefined, result: undefined, resultJson: undefined });
const frozen: Service['listEvents'] = () => Object.freeze({ events: Object.freeze([Object.freeze({ runId: 'r', sequence: 1, type: 't', status: 'running', metadata: Object.freeze({ a: '1' }) } as const)]), nextSequence: 1 } as const);
class Row {
  constructor(readonly runId: string, readonly revision: number) {}
  readonly status = 'running';
  get context() {
    return { runId: this.runId };
  }
  get result(): { answer: number } {
    return { answer: 42 };
  }
}
const row: Service['getRun'] = ({ runId }) => new Row(runId, 1);
class Runs implements Service {
  createRun = async (): Promise<RunSubmission> => submission;
  async getRun({ runId }: { runId: string }): Promise<Row | RunView> {
    return kept.get(runId) ?? new Row(runId, 1);
  }
  cancelRun(): RunSubmission {
    return submission;
  }
  resolveApproval(): never {
    throw new HostError('conflict', 'no');
  }
  async resumeRun(): Promise<never> {
    throw new HostError('conflict', 'no');
  }
  listEvents(): EventPage {
    return { events: [], nextSequence: 0, hasMore: false };
  }
}
void [either, eitherLater, nowOrLater, unset, frozen, row, new Host(new Runs())];

const host = new Host(service, { maxMessageBytes: 1024, sensitiveNames: ['pin'], requirePrincipal: true, timeoutMs: 5, onLog: ({ level, message, fields, cause }) => void [level, message, fields, cause] });
// @ts-expect-error misspelled
new Host(service, { maxMesageBytes: 1024 });
// @ts-expect-error not a message
void host.dispatchJson({});
// @ts-expect-error nobody is said by leaving the principal out
void host.dispatchJson('', { principal: undefined });
// @ts-expect-error a synchronous dispatch cannot time out
host.dispatchJsonSync('', { timeoutMs: 5 });
same<ReturnType<Host['dispatchJson']>, Promise<Uint8Array>>(true);
same<ReturnType<Host['dispatchJsonSync']>, Uint8Array>(true);

export async function use(): Promise<void> {
  await using disposed = new Host(service);
  const { dispatchJson } = disposed;
  await dispatchJson(new Uint8Array(), { principal: 'alice', signal: AbortSignal.timeout(5) });
  const client = new Client(dispatchJson, { retries: 1 });
  same<Awaited<ReturnType<typeof client.getRun>>, RunView>(true);
  const page: EventPage = await client.listEvents({ runId: 'r' });
  const data: Json | undefined = page.events[0]?.data;
  // @ts-expect-error createRun needs a run id
  await client.createRun({ context: {} });
  const run = await client.getRun({ runId: 'r' }, { requestId: 'x', signal: new AbortController().signal });
  run.result = { replaced: true };
  // @ts-expect-error the text follows from the value
  run.resultJson = '1';
  const proxy: Service['getRun'] = () => client.getRun({ runId: 'r' });
  void [data, proxy];
}

export async function durable(): Promise<void> {
  const options: DurableOptions = { leaseMs: 1, maxAttempts: 0, keyTtlMs: 1, maxMessageBytes: 1, sensitiveNames: ['pin'], operators: ['root'] as const, requirePrincipal: true, timeoutMs: 0, onLog: () => {} };
  await using opened: DurableHost = await Host.open('sqlite:runs.db', options);
  opened.dispatchJsonSync('', { principal: 'alice', timeoutMs: 5 });
  const host: Host = opened;
  void new Client(host.dispatchJson);
  // @ts-expect-error misspelled
  await Host.open('memory:', { lease: 5 });
  // @ts-expect-error a URL is text
  await Host.open(new URL('memory:'));
}

const error = new HostError('not_found', 'no', { retryable: true, details: { a: 1 }, metadata: { b: '2' }, cause: new Error() });
// @ts-expect-error no such code
new HostError('notFound', 'no');
const unknown: unknown = error;
if (HostError.is(unknown)) same<typeof unknown.code, ErrorCode>(true);
const head: number | undefined = error.conflict?.reason === 'cursor_ahead' ? error.conflict.headSequence : undefined;
void head;
same<typeof error.conflict, Conflict | undefined>(true);

const prepared = encodeRequest('get_run', { runId: 'r' });
const response = prepared.decodeResponse(host.dispatchJsonSync(prepared.bytes));
if (response.ok) same<typeof response.body, RunView>(true);
else same<typeof response.error, HostError>(true);
const any = decodeResponse('{}');
if (any.ok && any.operation === 'list_events') same<typeof any.body, EventPage>(true);
// @ts-expect-error no such operation
encodeRequest('getRun', { runId: 'r' });
same<ReturnType<typeof negotiateVersion>, string | undefined>(true);
const known: boolean = isSensitiveName(supportedVersions[0] ?? '');
void [known, new BadResponse('', '')];
