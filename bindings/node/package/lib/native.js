'use strict';
// Finds and loads the native library. When it cannot, the error lists every attempt, and what helps.

const fs = require('node:fs');
const path = require('node:path');
const { version } = require('../package.json');

/** Names another file than the installed one. */
const OVERRIDE = 'AGENTHOST_NATIVE_LIBRARY';
const BUILT_FOR = ['linux-x64-gnu'];

/** The platform, as the packages with native libraries are named. */
function platform() {
  const libc = process.platform !== 'linux' ? '' : isGlibc() ? '-gnu' : '-musl';
  return `${process.platform}-${process.arch}${libc}`;
}

function isGlibc() {
  // A report of the process would collect all of its sockets too.
  const excluded = process.report?.excludeNetwork;
  if (process.report) process.report.excludeNetwork = true;
  try {
    return process.report?.getReport().header.glibcVersionRuntime !== undefined;
  } finally {
    if (process.report) process.report.excludeNetwork = excluded;
  }
}

/** The ways to the library: what is loaded, and how to help where it is not there. */
function attempts(here) {
  const override = process.env[OVERRIDE];
  if (override !== undefined && override !== '') {
    return [{ from: path.resolve(override), cure: `${OVERRIDE} names this file: correct the path, or unset it to use the installed library` }];
  }
  const name = `agenthost-${here}`;
  const missing = BUILT_FOR.includes(here)
    ? `install it with "npm install ${name}@${version}"; where npm left it out, install without --omit=optional, and on this platform rather than by copying node_modules from another`
    : `there is no library for ${here} (only for ${BUILT_FOR.join(', ')}): build one with "cargo build --release -p agenthost-node" and name it in ${OVERRIDE}`;
  return [
    { from: name, cure: missing, package: true },
    { from: path.join(__dirname, '..', `agenthost.${here}.node`), cure: `a bundler puts the library beside the package; or name it in ${OVERRIDE}` },
  ];
}

function load(attempt) {
  if (attempt.package) {
    const found = require(`${attempt.from}/package.json`).version;
    if (found !== version) throw new Error(`it has version ${found}, but version ${version} is needed`);
  } else if (!fs.existsSync(attempt.from)) {
    throw new Error('there is no such file');
  }
  const native = require(attempt.from);
  const found = typeof native.version === 'function' ? native.version() : 'none';
  if (found !== version) throw new Error(`it has version ${found}, but version ${version} is needed`);
  return native;
}

function loadAny() {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < 20) throw new Error(`agenthost needs Node 20 or later, this is Node ${process.versions.node}`);
  const here = platform();
  const failures = [];
  for (const attempt of attempts(here)) {
    try {
      return load(attempt);
    } catch (error) {
      failures.push({ attempt, error });
    }
  }
  const attempted = failures.map(({ attempt, error }) => `\n- ${attempt.from}: ${String(error.message).split('\n')[0]}\n  cure: ${attempt.cure}`);
  const failure = new Error(`agenthost could not load its native library for ${here}. Tried:${attempted.join('')}`, {
    cause: failures[0].error,
  });
  failure.code = 'ERR_AGENTHOST_NATIVE_LIBRARY';
  throw failure;
}

module.exports = loadAny();
