// The CommonJS entry has the same types.

import agenthost = require('agenthost');

const { Client, Host, HostError } = agenthost;
declare const service: agenthost.Service;

const host: agenthost.Host = new Host(service, { timeoutMs: 5 });
const client = new Client(host.dispatchJson);
const run: Promise<agenthost.RunView> = client.getRun({ runId: 'r' });
const error: agenthost.HostError = new HostError('conflict', 'no');
// @ts-expect-error misspelled
new Host(service, { timeout: 5 });
// @ts-expect-error no such code
new HostError('made_up', 'no');
const durable: Promise<agenthost.DurableHost> = Host.open('memory:', { leaseMs: 5 });
export = [run, error, durable];
