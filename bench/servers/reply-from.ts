import replyFrom from '@fastify/reply-from';
import fastify from 'fastify';
import { announce } from './listen.ts';

// What a team would put in front of its API otherwise: a proxy that streams the answer and looks at none of it.
const upstream = process.argv[2] ?? '';
const app = fastify({ logger: { file: '/dev/null' } });
await app.register(replyFrom, { base: upstream, undici: { connections: 32, allowH2: false } });
app.get('/*', (_request, reply) => reply.from('/v1/tools'));
await app.listen({ port: 0, host: '127.0.0.1' });
announce(app.server.address() as { port: number });
