'use strict';
// The six operations, in the order in which the native library counts them.

/** The service's method of each operation. */
const METHODS = Object.freeze({
  create_run: 'createRun',
  get_run: 'getRun',
  cancel_run: 'cancelRun',
  resolve_approval: 'resolveApproval',
  resume_run: 'resumeRun',
  list_events: 'listEvents',
});

const OPERATIONS = Object.freeze(Object.keys(METHODS));

module.exports = { METHODS, OPERATIONS };
