'use strict';
// The CommonJS entry, and what there is: the ES module entry takes everything from here, so that both have the same classes.

const { Client, decodeResponse, encodeRequest, isSensitiveName, negotiateVersion, supportedVersions } = require('./lib/client');
const { BadResponse, HostError } = require('./lib/errors');
const { Host } = require('./lib/host');

module.exports = {
  BadResponse,
  Client,
  Host,
  HostError,
  decodeResponse,
  encodeRequest,
  isSensitiveName,
  negotiateVersion,
  supportedVersions,
};
