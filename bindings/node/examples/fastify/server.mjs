// A host behind one Fastify route. The transport authenticates; the body goes to the host as the bytes that came.

import Fastify from 'fastify';
import { Host } from 'agenthost';

/** Builds the server. `authenticate(request)` gives the caller's name, or undefined: then the host answers `unauthorized`. */
export function build(service, authenticate) {
  const app = Fastify({ bodyLimit: 16 << 20 });
  const host = new Host(service, {
    requirePrincipal: true,
    timeoutMs: 30_000,
    onLog: ({ level, message, fields, cause }) => app.log[level]({ ...fields, err: cause }, message),
  });

  // Every rule of the message is the host's: nothing is parsed before it.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  app.post('/agent-host', async (request, reply) => {
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const principal = authenticate(request);
    // That nobody is authenticated is said by leaving the principal out, never by an empty one.
    const response = await host.dispatchJson(request.body ?? '', { ...(principal === undefined ? {} : { principal }), signal: gone.signal });
    // The envelope says how the call went; HTTP says that there is an envelope.
    return reply.type('application/json').send(response);
  });

  app.addHook('onClose', () => host.close({ drainMs: 5_000 }));
  return app;
}
