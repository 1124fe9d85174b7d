'use strict';
// Signals of callers. Only what Node itself made is a signal, and it is read through the functions of its class: a member that an
// application has put on a signal would run the application's code in the middle of a call.

const { types } = require('node:util');

const { get: isAborted } = Object.getOwnPropertyDescriptor(AbortSignal.prototype, 'aborted');
const { get: reasonOf } = Object.getOwnPropertyDescriptor(AbortSignal.prototype, 'reason');
const { addEventListener, removeEventListener } = EventTarget.prototype;

/** Whether a value is an AbortSignal, not an object that looks like one. */
function is(value) {
  if (value === null || typeof value !== 'object' || types.isProxy(value)) return false;
  try {
    isAborted.call(value);
    return true;
  } catch {
    return false;
  }
}

function aborted(signal) {
  return isAborted.call(signal);
}

function reason(signal) {
  return reasonOf.call(signal);
}

function listen(signal, onAbort) {
  addEventListener.call(signal, 'abort', onAbort, { once: true });
}

function unlisten(signal, onAbort) {
  removeEventListener.call(signal, 'abort', onAbort);
}

module.exports = { aborted, is, listen, reason, unlisten };
