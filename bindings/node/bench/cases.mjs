// What is measured: messages, and services that answer them.

const CONTEXT = {
  runId: 'run-0123456789', traceId: '4bf92f3577b34da6a3ce929d0e0e4736', requestId: 'ctx-request-1', tenantId: 'tenant-1', userId: 'user-1',
  applicationId: 'app-1', workspaceId: 'workspace-1', conversationId: 'conversation-1', agentId: 'agent-1', locale: 'en-US',
  deadlineUnixMs: 1893456000123, metadata: { region: 'ap-southeast-1', zone: 'b' },
};
const VIEW = {
  runId: CONTEXT.runId, revision: 9, status: 'waiting_for_approval', context: CONTEXT, createdAtUnixMs: 1750000000001, updatedAtUnixMs: 1750000000002,
  completedAtUnixMs: null,
  approval: {
    approvalId: 'approval-1', toolCallId: 'call-1', toolName: 'write_config', resolution: 'pending', reason: 'needs operator',
    createdAtUnixMs: 1750000000000, resolvedAtUnixMs: null, metadata: { risk: 'high' },
  },
  result: { answer: 42, list: [1, 2.5, null, true] }, error: '', metadata: { agent_type: 'general' },
};
const SUBMISSION = { runId: CONTEXT.runId, revision: 1, status: 'created' };

const envelope = (operation, body, mutates) => ({
  protocolVersion: '2026-07-01', requestId: '0197a3c0-52f3-7c7e-9a7b-0c9b1a2d3e4f', ...(mutates ? { idempotencyKey: 'key-0123456789abcdef' } : {}),
  operation, metadata: { channel: 'web', build: '2026.07.01' }, body,
});

/** An object tree of about `bytes` bytes as JSON: what a conversation looks like. */
function tree(bytes) {
  const messages = [];
  const message = (index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant', at: 1750000000000 + index, tokens: 17 + index, score: 0.25 * index, final: index % 3 === 0, parent: null,
    text: 'The quick brown fox jumps over the lazy dog, and the dog sleeps on.', tags: ['a', 'b', `n${index}`],
  });
  while (JSON.stringify({ messages }).length < bytes) messages.push(message(messages.length));
  return { messages };
}

function page(count) {
  const events = Array.from({ length: count }, (_, index) => ({
    runId: CONTEXT.runId, sequence: index + 1, type: 'tool.completed', status: 'running', stepId: `step-${index}`, toolCallId: `call-${index}`,
    timestampUnixMs: 1750000000000 + index, data: { tool: 'search', hits: index, ok: true, note: 'a short note about what was found' }, metadata: { source: 'worker-1' },
  }));
  return { events, nextSequence: count, hasMore: false };
}

const PAGE = page(256);
const create = (bytes) => envelope('create_run', { context: CONTEXT, input: tree(bytes), metadata: { origin: 'bench' } }, true);
let sink = 0;
const read = (request) => {
  sink += request.input.messages.length;
  return SUBMISSION;
};

/** Each case: the message, the method that answers it, and the goal as a share of pure JavaScript's time. */
export const CASES = [
  { name: 'get_run', message: { ...envelope('get_run', { runId: CONTEXT.runId }, false) }, answer: () => VIEW, goal: 0.5 },
  { name: 'create_run 1 KiB, passed through', message: create(1024), answer: () => SUBMISSION },
  { name: 'create_run 1 KiB, read', message: create(1024), answer: read },
  { name: 'create_run 64 KiB, passed through', message: create(65536), answer: () => SUBMISSION, goal: 0.25 },
  { name: 'create_run 64 KiB, read', message: create(65536), answer: read, goal: 1.2 },
  { name: 'list_events, 256 events', message: envelope('list_events', { runId: CONTEXT.runId }, false), answer: () => PAGE },
].map((each) => ({ ...each, message: Buffer.from(JSON.stringify(each.message)) }));

export const used = () => sink;
