// What the tests share: services, messages, and promises that somebody else settles.

export const METHODS = ['createRun', 'getRun', 'cancelRun', 'resolveApproval', 'resumeRun', 'listEvents'];

/** A service that answers well; `own` replaces methods. */
export function service(own = {}) {
  const submission = (request) => ({ runId: request.runId ?? request.context.runId, revision: 1, status: 'running' });
  return {
    createRun: submission,
    getRun: (request) => view(request.runId),
    cancelRun: submission,
    resolveApproval: submission,
    resumeRun: submission,
    listEvents: (request) => ({ events: [], nextSequence: request.afterSequence, hasMore: false }),
    ...own,
  };
}

export function view(runId, more = {}) {
  return { runId, revision: 1, status: 'running', context: { runId }, ...more };
}

export function event(sequence, more = {}) {
  return { runId: 'run-1', sequence, type: 'step', status: 'running', ...more };
}

/** A message as an object; `JSON.stringify` makes it one. */
export function envelope(operation, body, more = {}) {
  return { protocolVersion: '2026-07-01', requestId: 'req-1', idempotencyKey: 'key-1', operation, body, ...more };
}

export function message(...parts) {
  return JSON.stringify(envelope(...parts));
}

export const GET_RUN = message('get_run', { runId: 'run-1' });
export const CREATE_RUN = message('create_run', { context: { runId: 'run-1' } });

/** A response as an object. */
export function read(bytes) {
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
}

/** A hook that keeps its records. */
export function keeper() {
  const records = [];
  const onLog = (record) => void records.push(record);
  return { records, onLog };
}

/** Runs a script in a process of its own: `{ code, signal, stdout, stderr }`. */
export async function run(script, { args = [], env = {}, timeout = 60_000 } = {}) {
  const { execFile } = await import('node:child_process');
  const { fileURLToPath } = await import('node:url');
  const options = { cwd: fileURLToPath(new URL('.', import.meta.url)), env: { ...process.env, ...env }, timeout };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [...args, '--input-type=module', '-e', script], options, (error, stdout, stderr) => {
      resolve({ code: child.exitCode, signal: child.signalCode, stdout, stderr });
    });
  });
}
