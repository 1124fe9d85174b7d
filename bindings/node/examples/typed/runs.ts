// A service in TypeScript that keeps runs in memory.

import { Client, Host, HostError, type Call, type CancelRun, type CreateRun, type GetRun, type GivenRun, type ListEvents, type ResolveApproval, type ResumeRun, type RunSubmission, type Service } from 'agenthost';

export class Runs implements Service {
  readonly #runs = new Map<string, GivenRun>();
  /** Mutations that were done, by their keys: a retry gets the same answer and does nothing. */
  readonly #done = new Map<string, RunSubmission>();

  createRun({ context, inputJson, metadata }: CreateRun, call: Call): RunSubmission {
    return this.#once(call, () => {
      if (this.#runs.has(context.runId)) throw new HostError('conflict', `run ${context.runId} exists`);
      this.#runs.set(context.runId, { runId: context.runId, revision: 1, status: 'created', context, resultJson: inputJson, metadata, createdAtUnixMs: Date.now() });
      return { runId: context.runId, revision: 1, status: 'created' };
    });
  }

  async getRun({ runId }: GetRun): Promise<GivenRun> {
    return this.#find(runId);
  }

  cancelRun({ runId, expectedRevision, reason }: CancelRun, call: Call): RunSubmission {
    return this.#once(call, () => {
      const run = this.#find(runId);
      if (run.revision !== expectedRevision) {
        throw new HostError('conflict', 'the run has changed', { details: { revision: run.revision } });
      }
      Object.assign(run, { revision: run.revision + 1, status: 'cancelled', error: reason });
      return { runId, revision: run.revision, status: run.status };
    });
  }

  resolveApproval({ runId }: ResolveApproval): RunSubmission {
    throw new HostError('conflict', `run ${runId} waits for no approval`);
  }

  resumeRun({ runId }: ResumeRun): RunSubmission {
    throw new HostError('conflict', `run ${runId} waits for no approval`);
  }

  listEvents({ runId, afterSequence }: ListEvents) {
    this.#find(runId);
    return { events: [], nextSequence: afterSequence };
  }

  #find(runId: string): GivenRun {
    const run = this.#runs.get(runId);
    if (run === undefined) throw new HostError('not_found', `there is no run ${runId}`);
    return run;
  }

  #once(call: Call, act: () => RunSubmission): RunSubmission {
    const done = this.#done.get(call.idempotencyKey) ?? act();
    this.#done.set(call.idempotencyKey, done);
    return done;
  }
}

const host = new Host(new Runs(), { maxMessageBytes: 1 << 20 });
const client = new Client((bytes, { signal }) => host.dispatchJson(bytes, { principal: 'alice', signal }));

const { revision } = await client.createRun({ context: { runId: 'run-1', tenantId: 'acme' }, input: { question: 'how far?' } });
const run = await client.getRun({ runId: 'run-1' });
console.log(run.status, run.result, run.context.tenantId);
await client.cancelRun({ runId: 'run-1', expectedRevision: revision, reason: 'not needed any more' });
try {
  await client.cancelRun({ runId: 'run-1', expectedRevision: revision });
} catch (error) {
  if (!HostError.is(error)) throw error;
  console.log(error.code, error.details);
}
await host.close();
