// The ES module entry: the same objects as the CommonJS one.

import agenthost from './index.js';

export const {
  BadResponse,
  Client,
  Host,
  HostError,
  decodeResponse,
  encodeRequest,
  isSensitiveName,
  negotiateVersion,
  supportedVersions,
} = agenthost;
