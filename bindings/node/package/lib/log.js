'use strict';
// The log of a host: what its operator needs to know and its callers must not.

const WARNING = 'AgenthostWarning';

/** Gives a record to the hook. What the hook throws becomes a warning of the process and nothing else. */
function emit(onLog, record) {
  try {
    const outcome = onLog(record);
    if (typeof outcome?.then === 'function') Promise.resolve(outcome).catch(warnOfHook);
  } catch (error) {
    warnOfHook(error);
  }
}

function warnOfHook(error) {
  try {
    process.emitWarning(`the onLog hook failed: ${show(error)}`, WARNING);
  } catch {
    // An application that has replaced emitWarning by something that throws has no place for warnings. Its callers get their answers.
  }
}

/** A record as the native library writes it. */
function record([level, message, fields]) {
  return { level, message, fields: Object.fromEntries(fields) };
}

/** The default: warnings of the process, with the cause's stack where there is one. */
function toProcessWarning({ message, fields, cause }) {
  const details = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  process.emitWarning(message, { type: WARNING, detail: [...details, stackOf(cause)].filter(Boolean).join('\n') });
}

function stackOf(cause) {
  try {
    return typeof cause?.stack === 'string' ? cause.stack : undefined;
  } catch {
    return undefined;
  }
}

/** Anything that can be thrown, as text. Never throws. */
function show(thrown) {
  try {
    if (thrown === undefined) return 'nothing (undefined)';
    const shown = String(thrown);
    return shown.isWellFormed() ? shown : shown.toWellFormed();
  } catch {
    return 'a value that cannot be shown';
  }
}

module.exports = { emit, record, show, toProcessWarning };
