/**
 * Host the *Agent Host protocol* in Node: a versioned JSON contract between an agent runtime and the application that hosts it.
 *
 * You bring a {@link Service}, six methods that answer with plain objects, at once or through promises. A {@link Host} takes any
 * bytes and gives one valid response for each. A {@link Client} is the other side, over a transport of your own.
 *
 * Numbers are safe integers. *Free JSON* (`input`, `result`, `data`, `details`) may hold anything; where JavaScript's numbers are
 * too small for it, its exact text is beside it: `inputJson`, `resultJson`, `dataJson`, `detailsJson`.
 *
 * The names in quotation marks after a rule, as in ("Response"), are the sections of the protocol's description that it comes from.
 */

/** A JSON value as `JSON.parse` gives it. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Strings by name. In what leaves a host, names that look sensitive are dropped ("Sensitive names"). */
export type Metadata = Record<string, string>;

/** The six operations ("Request"). The four that change a run need an idempotency key. */
export type Operation = 'create_run' | 'get_run' | 'cancel_run' | 'resolve_approval' | 'resume_run' | 'list_events';

/** Where a run stands. The last four are final. */
export type RunStatus = 'created' | 'running' | 'waiting_for_approval' | 'completed' | 'failed' | 'cancelled' | 'timed_out';

/** What became of an approval. */
export type Resolution = 'pending' | 'approved' | 'denied';

/** The codes of the contract ("Response"). Nothing else is ever written. */
export type ErrorCode =
  | 'invalid_request'
  | 'unsupported_protocol_version'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  /** Not now. After a mutation the outcome is not known: retry with the same idempotency key. */
  | 'unavailable'
  /** A fault of the host. After a mutation the outcome is not known: retry with the same idempotency key. */
  | 'internal';

/** Milliseconds since the Unix epoch, as `Date.now()` gives them; within 8.64e15 of it. */
export type UnixMs = number;

// ---------------------------------------------------------------------------------------------------------- Requests

/** Where a run comes from ("Execution context"). Every string is empty where nothing is known. */
export interface ExecutionContext {
  /** The run. At most 1,024 bytes of UTF-8, no U+0000. */
  runId: string;
  traceId: string;
  /** The application's request that led to the run; not the protocol's. */
  requestId: string;
  tenantId: string;
  userId: string;
  applicationId: string;
  workspaceId: string;
  conversationId: string;
  agentId: string;
  /** A language tag such as `en-US`. */
  locale: string;
  /** When the run has to end. */
  deadlineUnixMs: UnixMs | null;
  /** Strings without secrets: in `create_run` a sensitive name refuses the request. */
  metadata: Metadata;
}

/** A piece of free JSON as a request or response has it: `Name` parsed when it is first read, `NameJson` its exact text. */
export type FreeJson<Name extends string> = {
  /** Parsed when it is first read. Integers over 2^53 - 1 lose digits. Setting it drops the text. */
  [key in Name]: Json;
} & {
  /** The exact text. Not enumerable: copies and `JSON.stringify` see the value alone. */
  readonly [key in `${Name}Json`]: string;
};

/** Submits a run. */
export type CreateRun = {
  /** Where the run comes from; its `runId` names the run. */
  context: ExecutionContext;
  /** Strings that belong to the run. */
  metadata: Metadata;
} & FreeJson<'input'>;

/** Reads a run. */
export interface GetRun {
  runId: string;
}

/** Cancels a run. */
export interface CancelRun {
  runId: string;
  /** The revision that the caller has seen, at least 1. */
  expectedRevision: number;
  /** Why; `agent run cancelled` when the request says nothing. */
  reason: string;
}

/** Approves or denies what a run waits for. */
export interface ResolveApproval {
  runId: string;
  /** The revision that the caller has seen, at least 1. */
  expectedRevision: number;
  approvalId: string;
  resolution: 'approved' | 'denied';
  /** Why; empty when the request says nothing. */
  reason: string;
  /** Strings that belong to the resolution. */
  metadata: Metadata;
}

/** Lets an approved run go on. */
export type ResumeRun = {
  runId: string;
  /** The revision that the caller has seen, at least 1. */
  expectedRevision: number;
  approvalId: string;
} & FreeJson<'input'>;

/** Reads the events after a cursor. */
export interface ListEvents {
  runId: string;
  /** Only events with a larger sequence are asked for. 0: all. */
  afterSequence: number;
  /** The most events that the page may hold, 1 to 1000. */
  limit: number;
}

/** What a service gets about a call, beside the request. */
export interface Call {
  readonly operation: Operation;
  /** Names this request; echoed in the response. */
  readonly requestId: string;
  /** Names the mutation: a retry carries the same key, so a service has to remember keys. Empty for a read without one. */
  readonly idempotencyKey: string;
  /** The envelope's metadata. */
  readonly metadata: Metadata;
  /** Whom the transport authenticated, as it was given to `dispatchJson`. It never comes from the message, and is never empty. */
  readonly principal: string | undefined;
  /**
   * Aborted when nobody waits for the answer any more. Its reason is the caller's own, a `TimeoutError`, or an `AbortError` when
   * the host was closed.
   */
  readonly signal: AbortSignal;
}

// ----------------------------------------------------------------------------------------------------------- Results

/** What is unset in a result may be left out: `undefined` is absent. */
type Optional<T, Names extends keyof T> = Omit<T, Names> & { [Name in Names]?: T[Name] | undefined };

/** A piece of free JSON in a result: as a value, or as text, which the core checks and which wins. */
export type GivenJson<Name extends string> = {
  /** Any JSON value. NaN, infinities, functions, and `undefined` in arrays are refused, not turned into null. */
  [key in Name]?: unknown;
} & { [key in `${Name}Json`]?: string | undefined };

/** What the four mutations answer. */
export interface RunSubmission {
  /** The run that the request is about. */
  runId: string;
  /** The run's revision, at least 1. */
  revision: number;
  status: RunStatus;
}

/** What a run waits for, or waited for. */
export interface ApprovalView {
  approvalId: string;
  /** The tool call that needs it, not empty. */
  toolCallId: string;
  /** The tool, not empty. */
  toolName: string;
  resolution: Resolution;
  reason: string;
  createdAtUnixMs: UnixMs;
  /** Null while pending, set once resolved. */
  resolvedAtUnixMs: UnixMs | null;
  metadata: Metadata;
}

interface RunViewMembers {
  runId: string;
  /** At least 1. */
  revision: number;
  status: RunStatus;
  /** Where the run comes from. Its `runId` is the view's. */
  context: ExecutionContext;
  createdAtUnixMs: UnixMs;
  updatedAtUnixMs: UnixMs;
  completedAtUnixMs: UnixMs | null;
  /** The latest approval. */
  approval: ApprovalView | null;
  /** Why the run failed, empty where it did not. It leaves the host as it is: no secrets. */
  error: string;
  metadata: Metadata;
}

interface EventMembers {
  runId: string;
  /** The event's place among the run's events, at least 1. */
  sequence: number;
  /** What kind of event it is, not empty. */
  type: string;
  /** The run's status after it. */
  status: RunStatus;
  /** The step that it belongs to, or empty. */
  stepId: string;
  /** The tool call that it belongs to, or empty. */
  toolCallId: string;
  timestampUnixMs: UnixMs;
  metadata: Metadata;
}

/** A run, as a client gets it. `result` is what it came to, null where there is nothing. */
export type RunView = RunViewMembers & FreeJson<'result'>;

/** An event, as a client gets it. */
export type Event = EventMembers & FreeJson<'data'>;

/** Events after a cursor, as a client gets them. */
export interface EventPage {
  /** Sequences rise. */
  events: Event[];
  /** The cursor for the next page: the last event's sequence, or the request's cursor when there is none. */
  nextSequence: number;
  /** Whether more events are there already. */
  hasMore: boolean;
}

/** An execution context as a service or client gives it: what is left out is empty. */
export type GivenContext = Optional<ExecutionContext, keyof ExecutionContext>;

/** An approval as a service gives it. */
export type GivenApproval = Optional<ApprovalView, 'reason' | 'createdAtUnixMs' | 'resolvedAtUnixMs' | 'metadata'>;

/** A run as a service gives it. Other members of the object stay in the host. */
export type GivenRun = Optional<
  Omit<RunViewMembers, 'context' | 'approval'>,
  'createdAtUnixMs' | 'updatedAtUnixMs' | 'completedAtUnixMs' | 'error' | 'metadata'
> & { context: GivenContext; approval?: GivenApproval | null | undefined } & GivenJson<'result'>;

/** An event as a service gives it. */
export type GivenEvent = Optional<EventMembers, 'stepId' | 'toolCallId' | 'timestampUnixMs' | 'metadata'> & GivenJson<'data'>;

/** A page as a service gives it. */
export interface GivenPage {
  events: readonly GivenEvent[];
  nextSequence: number;
  hasMore?: boolean | undefined;
}

/**
 * The application behind a host: six methods, each answering at once or through a promise.
 *
 * A thrown {@link HostError} answers with its code. Anything else that is thrown, and a result that breaks a rule ("What the
 * dispatcher promises", 6), is `internal` for the caller, and its cause goes to the host's `onLog`.
 */
export interface Service {
  /** Accepts a run. */
  createRun(request: CreateRun, call: Call): RunSubmission | PromiseLike<RunSubmission>;
  /** Reads a run. */
  getRun(request: GetRun, call: Call): GivenRun | PromiseLike<GivenRun>;
  /** Cancels a run that is still at the expected revision. */
  cancelRun(request: CancelRun, call: Call): RunSubmission | PromiseLike<RunSubmission>;
  /** Approves or denies what a run waits for. */
  resolveApproval(request: ResolveApproval, call: Call): RunSubmission | PromiseLike<RunSubmission>;
  /** Lets an approved run go on. */
  resumeRun(request: ResumeRun, call: Call): RunSubmission | PromiseLike<RunSubmission>;
  /** Reads the events after a cursor, at most `limit` of them. */
  listEvents(request: ListEvents, call: Call): GivenPage | PromiseLike<GivenPage>;
}

// -------------------------------------------------------------------------------------------------------------- Host

/** A log record: what the operator needs to know and callers must not. */
export interface LogRecord {
  /** `error`: a caller got `internal`. `warn`: something that should not happen, and did no harm. */
  level: 'error' | 'warn' | 'info' | 'debug';
  message: string;
  /** More about it; names of members and rules, never values of a request or an answer. */
  fields: Record<string, string>;
  /** What was thrown, where something was. */
  cause?: unknown;
}

export interface HostOptions {
  /** The most bytes that a message, and a response, may have; exactly as many are allowed. Default 16 MiB. */
  maxMessageBytes?: number | undefined;
  /** More names that are kept out of metadata. Names can be added, none removed. */
  sensitiveNames?: readonly string[] | undefined;
  /** Whether a call without a principal is answered `unauthorized`. Default false. */
  requirePrincipal?: boolean | undefined;
  /** How long `dispatchJson` waits for a promise of the service, in milliseconds, 0 to 2^31 - 1. Default: for ever. */
  timeoutMs?: number | undefined;
  /**
   * Told why a caller got `internal`. Called after the response is made; what it throws becomes a warning of the process and
   * changes no response. Default: warnings of the process, named `AgenthostWarning`.
   */
  onLog?: ((record: LogRecord) => void) | undefined;
}

export interface DispatchOptions {
  /**
   * Whom the transport authenticated: not empty, and without U+0000. Leave the option out where there is nobody. One that is there without
   * a value (undefined too) is refused: by mistake it would make the call nobody's, who sees every durable run.
   */
  principal?: string;
  /**
   * Gives the call up: the response is `unavailable` with `details.reason` `cancelled`. Says nothing about the run. An AbortSignal of Node,
   * not an object that looks like one.
   */
  signal?: AbortSignal | undefined;
  /** How long to wait for a promise of the service, in milliseconds; the host's default otherwise. */
  timeoutMs?: number | undefined;
}

/** How durable runs are opened. */
export interface DurableOptions {
  /** How long a worker may be silent before another may take its run over, in milliseconds, 1 to 86,400,000. Default 30,000. */
  leaseMs?: number | undefined;
  /** How often a run may be taken over from a silent worker before it fails. A resume begins anew. Default 10. */
  maxAttempts?: number | undefined;
  /** How long an idempotency key is remembered, in milliseconds. Default 86,400,000, a day. */
  keyTtlMs?: number | undefined;
  /** The most bytes that a message, and a response, may have; exactly as many are allowed. Default 16 MiB. */
  maxMessageBytes?: number | undefined;
  /** More names that are refused in metadata: nothing secret is stored. Names can be added, none removed. */
  sensitiveNames?: readonly string[] | undefined;
  /** Whether a call without a principal is answered `unauthorized`. Default false: such a call sees every run. */
  requirePrincipal?: boolean | undefined;
  /**
   * Principals that see and change every run, as calls without a principal do; everybody else only their own. Default: none. A rule of
   * your own is a matter of Rust or C: it would be asked on threads of the library, which cannot wait for the event loop.
   */
  operators?: readonly string[] | undefined;
  /** How long a dispatch waits for its answer, in milliseconds, 0 to 2^31 - 1. Default: for ever. */
  timeoutMs?: number | undefined;
  /** Told why a caller got `internal` or `unavailable`. As in {@link HostOptions}. */
  onLog?: ((record: LogRecord) => void) | undefined;
}

export interface CloseOptions {
  /** How long calls in flight may go on, in milliseconds, 0 to 2^31 - 1. Default 10,000. */
  drainMs?: number | undefined;
}

/**
 * A host: any bytes in, one valid response out. It belongs to the thread that made it (`postMessage` refuses it), and does not
 * keep the process alive. Its methods are bound: `dispatchJson` can be handed on as a function.
 */
export class Host {
  /**
   * A host of durable runs, for who has no service: safe retries, approvals, cancellation, deadlines and events. `memory:` keeps
   * them until the host is closed, `sqlite:path` in a file, which is made where there is none; any number of hosts and processes
   * may open one file. Opening, and what the runs write, happens on other threads.
   *
   * Rejects with a TypeError for a URL that names no store and for misuse, with a RangeError for a value out of range, and with
   * an Error whose `code` is `ERR_AGENTHOST_STORE` when the store cannot be opened.
   */
  static open(url: string, options?: DurableOptions): Promise<DurableHost>;

  /** @throws TypeError when a method is missing, or an option is unknown or of a wrong type. */
  constructor(service: Service, options?: HostOptions);

  /**
   * The response to a message. Failures of the protocol and of the service are responses; what rejects is misuse: a message that
   * is neither bytes nor a string, a principal without a name, a time out of its range, an unknown option.
   *
   * The message is read before this returns; the buffer may be used again.
   */
  dispatchJson(data: Uint8Array | string, options?: DispatchOptions): Promise<Uint8Array>;

  /**
   * The response to a message, for services that answer at once.
   *
   * @throws TypeError when the method returned a promise (the call is then answered and logged as `internal`), and for misuse.
   */
  dispatchJsonSync(data: Uint8Array | string, options?: Pick<DispatchOptions, 'principal'>): Uint8Array;

  /** Whether this host keeps `name` out of metadata. */
  isSensitiveName(name: string): boolean;

  /**
   * Refuses new calls (they answer `unavailable`), waits for those in flight up to `drainMs`, then answers the rest `unavailable`
   * and aborts their signals. Closing twice is closing once; a second close with a shorter `drainMs` ends the first one too.
   * Inside a service method it waits for that method's own call: do not await it there.
   */
  close(options?: CloseOptions): Promise<void>;

  /** `close()`: `await using host = new Host(service)`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A host of durable runs, made by {@link Host.open}. While a dispatch waits the process is kept alive; an open host alone does not
 * keep it.
 *
 * An abort, a timeout and `close` end the wait for an answer, not the command: what was accepted is written all the same. Retry
 * with the same idempotency key to learn what came of it. `close` also waits until everything accepted is written.
 */
export interface DurableHost extends Host {
  /**
   * The response to a message. It blocks this thread until the answer is there, for a write until it is on disk: for scripts and
   * tests, not for a server.
   */
  dispatchJsonSync(data: Uint8Array | string, options?: Pick<DispatchOptions, 'principal' | 'timeoutMs'>): Uint8Array;
}

// ------------------------------------------------------------------------------------------------------------ Errors

export interface HostErrorOptions {
  /** Whether the same request may succeed later. Default false. */
  retryable?: boolean | undefined;
  /** For programs, any JSON. Default `{}`. It leaves the host as it is: no secrets. */
  details?: unknown;
  /** `details` as exact text, which wins. */
  detailsJson?: string | undefined;
  /** Strings for programs. */
  metadata?: Metadata | undefined;
  /** The code that a client received when it is none of the contract's. */
  originalCode?: string | undefined;
  /** What led to it. It stays in this process. */
  cause?: unknown;
}

/** Why a call conflicts with the state of a durable run. */
export type ConflictReason =
  /** The run is at `currentRevision`: read it again and decide anew. */
  | 'revision_mismatch'
  /** The run's `status` does not allow the call. */
  | 'invalid_state'
  /** The approval is not the run's current one: read the run again. */
  | 'approval_mismatch'
  /** There is a run of that id, from another request. */
  | 'run_exists'
  /** The key was used for another request. */
  | 'idempotency_mismatch'
  /** Somebody works on the run, or it waits for a worker: again after `retryAfterMs`. */
  | 'claim_held'
  /** Workers: `status` says what became of the run. */
  | 'claim_lost'
  /** Events were compacted away: go on from `firstSequence`, by reading after the one before it. */
  | 'cursor_expired'
  /** The run has only `headSequence` events: it was purged and created again. Read from `afterSequence` 0. */
  | 'cursor_ahead';

/** A conflict with the state of a durable run: its reason, and what comes with it. */
export interface Conflict {
  reason: ConflictReason;
  /** The run's revision. */
  currentRevision?: number;
  /** The run's status. */
  status?: RunStatus;
  /** How long to wait before the next try, in milliseconds. */
  retryAfterMs?: number;
  /** The first event that is still there. */
  firstSequence?: number;
  /** The run's last event. */
  headSequence?: number;
}

/** What a service throws to answer with a code of the contract, and a client when a host answers so. */
export class HostError extends Error {
  /** @throws TypeError for an unknown code or option. */
  constructor(code: ErrorCode, message: string, options?: HostErrorOptions);
  readonly code: ErrorCode;
  readonly retryable: boolean;
  details: unknown;
  /** The exact text of `details`, where it was given or received as text. */
  readonly detailsJson?: string;
  readonly metadata: Metadata;
  /** Client: the code that was received when it is none of the contract's; `code` reads as `internal` then. */
  readonly originalCode?: string;
  /**
   * Client: why the call conflicts with the state of a durable run, and what to go on with. Undefined for any other error, and for a
   * conflict of a host that gives no such reason.
   */
  readonly conflict: Conflict | undefined;
  /** Whether a value is a HostError, also one of another copy of this package. Never throws. */
  static is(value: unknown): value is HostError;
}

/** What a client received is no valid response, or none to its request ("The client's side"). */
export class BadResponse extends Error {
  constructor(path: string, expected: string);
  /** The member that breaks a rule, dotted from the root; empty: the message itself. */
  readonly path: string;
}

// ------------------------------------------------------------------------------------------------------------ Client

/** The requests as a client gives them, by operation. What is left out has the contract's default. */
export interface Requests {
  create_run: { context: GivenContext & { runId: string }; metadata?: Metadata | undefined } & GivenJson<'input'>;
  get_run: GetRun;
  cancel_run: Optional<CancelRun, 'reason'>;
  resolve_approval: Optional<ResolveApproval, 'reason' | 'metadata'>;
  resume_run: { runId: string; expectedRevision: number; approvalId: string } & GivenJson<'input'>;
  list_events: Optional<ListEvents, 'afterSequence' | 'limit'>;
}

/** The results as a client gets them, by operation. */
export interface Results {
  create_run: RunSubmission;
  get_run: RunView;
  cancel_run: RunSubmission;
  resolve_approval: RunSubmission;
  resume_run: RunSubmission;
  list_events: EventPage;
}

export interface EncodeOptions {
  /** Names the request; a new UUIDv7 by default. */
  requestId?: string | undefined;
  /** Names the mutation; a new UUIDv7 for mutations by default, nothing for reads. */
  idempotencyKey?: string | undefined;
  /** The envelope's metadata. */
  metadata?: Metadata | undefined;
  /** The version to write; the preferred one by default. */
  protocolVersion?: string | undefined;
}

/** A response that was checked. */
export type Response<O extends Operation = Operation> =
  | { [Each in O]: { protocolVersion: string; requestId: string; operation: Each; ok: true; body: Results[Each]; error: null } }[O]
  | {
      protocolVersion: string;
      /** Empty in a refusal whose request could not be read. */
      requestId: string;
      /** Null in a refusal in a version that this library does not speak, with an operation that it does not know. */
      operation: Operation | null;
      ok: false;
      body: null;
      error: HostError;
    };

/** A request, frozen: its bytes are the same each time, so that a retry is a retry. */
export interface PreparedRequest<O extends Operation = Operation> {
  readonly operation: O;
  readonly requestId: string;
  /** Empty for a read without a key. */
  readonly idempotencyKey: string;
  /** The envelope, a new copy each time. */
  readonly bytes: Uint8Array;
  /** Checks that a response answers this request. @throws BadResponse */
  decodeResponse(data: Uint8Array | string): Response<O>;
}

/**
 * Checks a request and writes it.
 *
 * @throws HostError `invalid_request` with `details.path`, as a host would answer it.
 */
export function encodeRequest<O extends Operation>(operation: O, request: Requests[O], options?: EncodeOptions): PreparedRequest<O>;

/** Checks a response of which the request is not known: everything but whether it answers that request. @throws BadResponse */
export function decodeResponse(data: Uint8Array | string): Response;

/** The most preferred version of ours that the other side offers; undefined where there is none. */
export function negotiateVersion(offered: Iterable<string>): string | undefined;

/** Whether a name looks as if its value were a secret ("Sensitive names"). */
export function isSensitiveName(name: string): boolean;

/** The protocol versions that this library speaks, most preferred first. */
export const supportedVersions: readonly string[];

/**
 * A transport: sends bytes and gives what comes back. It gets a copy of the bytes each time. `host.dispatchJson` is one.
 * What it throws is tried again, and thrown when no retry is left.
 */
export type Send = (bytes: Uint8Array, options: { signal: AbortSignal | undefined }) => PromiseLike<Uint8Array | string> | Uint8Array | string;

export interface ClientOptions {
  /** How often the same bytes are sent again after a failure of the transport, or an error that is `retryable`. Default 2. */
  retries?: number | undefined;
  /** The wait before the first retry, in milliseconds; it doubles with each, up to 30 seconds. Default 100. */
  retryDelayMs?: number | undefined;
  /** The version to begin with; the preferred one by default. When a host refuses it, a common one is negotiated. */
  protocolVersion?: string | undefined;
}

export interface CallOptions extends Omit<EncodeOptions, 'protocolVersion'> {
  /** Ends the call: its reason is thrown. The request may have arrived all the same. */
  signal?: AbortSignal | undefined;
}

/**
 * Six typed methods over a transport. They throw a {@link HostError} when the host answers with an error, or when the request
 * breaks a rule and is not even sent; a {@link BadResponse} when what comes back is no valid answer; and what `send` throws.
 *
 * After a mutation `internal`, `unavailable` and a failed transport mean that the outcome is not known: call again with the same
 * `idempotencyKey`, which you give yourself for that.
 */
export class Client {
  constructor(send: Send, options?: ClientOptions);
  createRun(request: Requests['create_run'], options?: CallOptions): Promise<RunSubmission>;
  getRun(request: Requests['get_run'], options?: CallOptions): Promise<RunView>;
  cancelRun(request: Requests['cancel_run'], options?: CallOptions): Promise<RunSubmission>;
  resolveApproval(request: Requests['resolve_approval'], options?: CallOptions): Promise<RunSubmission>;
  resumeRun(request: Requests['resume_run'], options?: CallOptions): Promise<RunSubmission>;
  listEvents(request: Requests['list_events'], options?: CallOptions): Promise<EventPage>;
}
