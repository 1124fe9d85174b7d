const { Client, Host } = require('agenthost');

const answer = ({ runId }) => ({ runId, revision: 1, status: 'running', context: { runId } });
const host = new Host({ createRun: answer, getRun: answer, cancelRun: answer, resolveApproval: answer, resumeRun: answer, listEvents: answer });
new Client(host.dispatchJson).getRun({ runId: 'run-1' }).then((run) => console.log(`the run is ${run.status}`));
