import { Client, Host } from 'agenthost';

const answer = ({ runId }) => ({ runId, revision: 1, status: 'running', context: { runId } });
const host = new Host({ createRun: answer, getRun: answer, cancelRun: answer, resolveApproval: answer, resumeRun: answer, listEvents: answer });
const run = await new Client(host.dispatchJson).getRun({ runId: 'run-1' });
console.log(`the run is ${run.status}`);
