// What is measured: messages, and services that answer with what they hold. The same cases as Python's.

const CONTEXT = {
  runId: 'run-0123456789', traceId: '4bf92f3577b34da6a3ce929d0e0e4736', requestId: 'request-42', tenantId: 'tenant-7', userId: 'user-1234',
  applicationId: '', workspaceId: '', conversationId: '', agentId: '', locale: 'en-US', deadlineUnixMs: 1893456000123,
  metadata: { region: 'eu-central-1', zone: 'b' },
};
const VIEW = {
  runId: CONTEXT.runId, revision: 9, status: 'running', context: CONTEXT, createdAtUnixMs: 1750000000001, updatedAtUnixMs: 1750000000002,
  completedAtUnixMs: null, approval: null, result: { answer: 42 }, error: '', metadata: { agent_type: 'general' },
};
const SUBMISSION = { runId: CONTEXT.runId, revision: 1, status: 'created' };
const PAGE = {
  events: Array.from({ length: 256 }, (_, index) => ({
    runId: CONTEXT.runId, sequence: index + 1, type: 'tool.called', status: 'running', stepId: `step-${index + 1}`, toolCallId: `call-${index + 1}`,
    timestampUnixMs: 1750000000000 + index, data: { tool: 'read_file', arguments: { path: `/srv/data/${index + 1}.txt`, limit: 100 }, attempt: 1 },
    metadata: { region: 'eu-central-1' },
  })),
  nextSequence: 256,
  hasMore: true,
};

const envelope = (operation, body) => Buffer.from(JSON.stringify({
  protocolVersion: '2026-07-01', requestId: 'req-0123456789abcdef', idempotencyKey: 'key-0123456789abcdef', operation,
  metadata: { client: 'bench', note: 'x'.repeat(300) }, body,
}));

/** Objects that take about `bytes` bytes as JSON. */
function tree(bytes) {
  const items = [];
  while (JSON.stringify(items).length < bytes) {
    const id = items.length;
    for (let copy = 0; copy < 4; copy++) items.push({ id, name: `item number ${id}`, price: id * 1.25, tags: ['a', 'b'], done: id % 2 === 0 });
  }
  return items;
}

const create = (bytes) => envelope('create_run', { context: CONTEXT, input: tree(bytes) });
let sink = 0;
const read = (request) => {
  sink += request.input.length;
  return SUBMISSION;
};

/** Each case: the message, the method that answers it, and the goal as a share of pure JavaScript's time. */
export const CASES = [
  { name: 'get_run', message: envelope('get_run', { runId: CONTEXT.runId }), answer: () => VIEW, goal: 0.5 },
  { name: 'create_run 1 KiB, not read', message: create(1 << 10), answer: () => SUBMISSION },
  { name: 'create_run 1 KiB, read', message: create(1 << 10), answer: read },
  { name: 'create_run 64 KiB, not read', message: create(64 << 10), answer: () => SUBMISSION, goal: 0.25 },
  { name: 'create_run 64 KiB, read', message: create(64 << 10), answer: read, goal: 1.2 },
  { name: 'page of 256 events', message: envelope('list_events', { runId: CONTEXT.runId }), answer: () => PAGE },
];

/** Shows that the inputs were read. */
export const used = () => sink;
