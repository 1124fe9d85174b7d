// The search for the native library: what it takes, and what it says when it finds nothing.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from './support.mjs';

const LIBRARY = realpathSync(fileURLToPath(new URL('../node_modules/agenthost-linux-x64-gnu/agenthost.node', import.meta.url)));
const VERSION = '0.1.0';
const PLATFORM = 'agenthost-linux-x64-gnu';

/** Loads a copy of the package that stands alone; `prepare` puts things beside it. */
async function load(prepare = () => {}, env = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'agenthost-'));
  const home = join(folder, 'node_modules', 'agenthost');
  try {
    cpSync(fileURLToPath(new URL('../package', import.meta.url)), home, { recursive: true });
    prepare(folder, home);
    const script = `
      import { createRequire } from 'node:module';
      try { console.log(Object.keys(createRequire(${JSON.stringify(join(folder, 'x.js'))})('agenthost')).length > 5); }
      catch (error) { console.log(error.code); console.log(error.message); }`;
    return (await run(script, { env: { AGENTHOST_NATIVE_LIBRARY: undefined, ...env } })).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function install(folder, version) {
  const home = join(folder, 'node_modules', PLATFORM);
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name: PLATFORM, version, main: 'agenthost.node' }));
  cpSync(LIBRARY, join(home, 'agenthost.node'));
}

test('the package of the platform is taken', async () => {
  assert.equal(await load((folder) => install(folder, VERSION)), 'true\n');
});

test('a library beside the package is taken', async () => {
  assert.equal(await load((_folder, home) => cpSync(LIBRARY, join(home, 'agenthost.linux-x64-gnu.node'))), 'true\n');
});

test('a path in the environment is taken, and nothing else then', async () => {
  assert.equal(await load(undefined, { AGENTHOST_NATIVE_LIBRARY: LIBRARY }), 'true\n');
  const said = await load((folder) => install(folder, VERSION), { AGENTHOST_NATIVE_LIBRARY: '/no/such/file.node' });
  assert.match(said, /^ERR_AGENTHOST_NATIVE_LIBRARY\n/);
  assert.match(said, /\/no\/such\/file\.node: there is no such file\n {2}cure: AGENTHOST_NATIVE_LIBRARY names this file: correct the path, or unset it/);
  assert.doesNotMatch(said, /- agenthost-linux/);
});

test('when nothing is found, every attempt is listed with its cure', async () => {
  const said = await load();
  assert.match(said, /could not load its native library for linux-x64-gnu/);
  assert.match(said, /- agenthost-linux-x64-gnu: Cannot find module.*\n {2}cure: install it with "npm install agenthost-linux-x64-gnu@0\.1\.0".*--omit=optional/);
  assert.match(said, /- .*agenthost\.linux-x64-gnu\.node: there is no such file\n {2}cure: .*AGENTHOST_NATIVE_LIBRARY/);
});

test('a platform package of another version is refused', async () => {
  assert.match(await load((folder) => install(folder, '0.0.9')), /- agenthost-linux-x64-gnu: it has version 0\.0\.9, but version 0\.1\.0 is needed/);
});

test('a file that is no library, and a broken package, are reported', async () => {
  const broken = join(mkdtempSync(join(tmpdir(), 'agenthost-')), 'broken.node');
  writeFileSync(broken, 'not a library');
  assert.match(await load(undefined, { AGENTHOST_NATIVE_LIBRARY: broken }), /broken\.node: .*(too short|invalid ELF)/);
  rmSync(join(broken, '..'), { recursive: true });
});
