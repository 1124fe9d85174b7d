// Packs the package and its platform package into a folder, as npm would publish them.

import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const read = (path) => JSON.parse(readFileSync(here(path), 'utf8'));

/** The tarballs, made in `destination`. */
export function pack(destination) {
  const [main, platform] = [read('package/package.json'), read('platform/package.json')];
  if (main.optionalDependencies[platform.name] !== platform.version || main.version !== platform.version) {
    throw new Error(`the package has to depend on exactly the version of ${platform.name} that is packed with it`);
  }
  mkdirSync(destination, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'agenthost-pack-'));
  try {
    cpSync(here('package'), join(folder, 'main'), { recursive: true });
    copyFileSync(here('README.md'), join(folder, 'main', 'README.md'));
    cpSync(here('platform'), join(folder, 'platform'), { recursive: true });
    copyFileSync(here(`node_modules/${platform.name}/agenthost.node`), join(folder, 'platform', 'agenthost.node'));
    return ['platform', 'main'].map((each) => {
      copyFileSync(here('../../LICENSE'), join(folder, each, 'LICENSE'));
      const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', destination], { cwd: join(folder, each), encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
      const parsed = JSON.parse(packed);
      const [{ filename }] = Array.isArray(parsed) ? parsed : Object.values(parsed);
      return join(destination, filename);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) for (const tarball of pack(process.argv[2])) console.log(tarball);
