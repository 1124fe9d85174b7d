// agenthost beside pure JavaScript, in one process, in turns. Microseconds of processor time a call, all threads of the process: what
// others do on the machine is not in it, what is collected later is. Medians over the rounds; the share is the median of each
// round's own. `--json` for programs.

import { Host } from 'agenthost';
import { CASES, used } from './cases.mjs';
import { PureHost } from './pure.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 51);
const ROUND_MS = 10;
/** For so long each runs before it is measured: until then it is compiled anew now and then. */
const WARM_UP_MS = 300;
const METHODS = ['createRun', 'getRun', 'cancelRun', 'resolveApproval', 'resumeRun', 'listEvents'];
const service = (method) => Object.fromEntries(METHODS.map((name) => [name, method]));

function subjects({ answer, message }) {
  const later = async (request) => answer(request);
  const [sync, pureSync] = [new Host(service(answer)), new PureHost(answer)];
  const [async, pureAsync] = [new Host(service(later)), new PureHost(later)];
  return {
    sync: { agenthost: () => sync.dispatchJsonSync(message), pure: () => pureSync.dispatchJsonSync(message) },
    async: { agenthost: () => async.dispatchJson(message), pure: () => pureAsync.dispatchJson(message) },
  };
}

async function round(call, count) {
  const started = process.cpuUsage();
  for (let left = count; left > 0; left--) {
    const response = call();
    if (typeof response.then === 'function') await response;
  }
  const { user, system } = process.cpuUsage(started);
  return (user + system) / count;
}

async function measure(calls) {
  const names = Object.keys(calls);
  const counts = {};
  for (const name of names) {
    for (const end = performance.now() + WARM_UP_MS; performance.now() < end; ) await round(calls[name], 50);
    counts[name] = Math.max(10, Math.round((ROUND_MS * 1000) / (await round(calls[name], 200))));
  }
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let left = ROUNDS; left > 0; left--) for (const name of names) times[name].push(await round(calls[name], counts[name]));
  const shares = times.agenthost.map((time, index) => time / times.pure[index]);
  return { ...Object.fromEntries(names.map((name) => [name, median(times[name])])), share: median(shares) };
}

function median(values) {
  return values.sort((a, b) => a - b)[values.length >> 1];
}

async function same({ agenthost, pure }) {
  const [ours, theirs] = [JSON.parse(await agenthost()), JSON.parse(await pure())];
  if (!ours.ok || JSON.stringify(ours.body) !== JSON.stringify(theirs.body)) throw new Error('the two do not answer the same');
}

const rows = [];
for (const each of CASES) {
  for (const [kind, calls] of Object.entries(subjects(each))) {
    await same(calls);
    const { agenthost, pure, share } = await measure(calls);
    rows.push({ case: each.name, kind, bytes: each.message.length, agenthost_us: agenthost, pure_us: pure, share, goal: each.goal ?? null });
  }
}
if (process.argv.includes('--json')) {
  console.log(JSON.stringify({ node: process.version, rounds: ROUNDS, unit: 'microseconds of processor time a call, median', rows }, null, 2));
} else {
  console.log('microseconds of processor time a call  agenthost  pure JS  share  goal');
  for (const row of rows) {
    const columns = [row.agenthost_us.toFixed(2).padStart(9), row.pure_us.toFixed(2).padStart(8), row.share.toFixed(2).padStart(6), (row.goal ?? '').toString().padStart(5)];
    console.log(`${`${row.case} (${row.kind})`.padEnd(39)}${columns.join(' ')}`);
  }
}
if (used() === 0) throw new Error('the inputs were never read');
