import { ours, type Server, serve } from './server.ts';
import type { BareAnswer } from './servers/bare.ts';
import type { Workshop } from './workshop.ts';

/** A bare `node:http` server that gives one answer from memory. */
export function serveBare(workshop: Workshop, core: number, answer: BareAnswer = 'plain'): Promise<Server> {
  return serve(workshop, core, [ours('bench/servers/bare.ts'), answer]);
}
