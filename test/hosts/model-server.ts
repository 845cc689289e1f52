import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json as readJson } from 'node:stream/consumers';
import { listen } from '../support/listening.ts';
import { DIALECTS, type Given, type Json, type Reply } from './dialects.ts';

/** A model behind the APIs of real ones, on loopback. The test decides each of its replies. */
export interface Model {
  readonly url: string;
  /** Bodies of all requests so far, as JSON. */
  readonly requests: readonly string[];
  /** Resolves with what the host gives the model first. */
  readonly first: Promise<Given>;
  /** Replies, and resolves with what the host gives the model next. After a text, the host has nothing to give. */
  reply(reply: Reply): Promise<Given>;
}

/** In every request of the conversation, and in no other, such as one for a title. */
const MARK = 'list_projects';

export async function startModel(): Promise<Model> {
  const requests: string[] = [];
  const replies: Promise<Reply>[] = [];
  let next = Promise.withResolvers<Given>();
  let awaited = Promise.withResolvers<Reply>();

  /** A request that a host repeats has as many results, and the same reply. */
  function replyTo(given: Given): Promise<Reply> {
    const { length } = given.results;
    if (replies[length] === undefined) {
      awaited = Promise.withResolvers();
      replies[length] = awaited.promise;
      next.resolve(given);
      next = Promise.withResolvers();
    }
    return replies[length];
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://model');
    const dialect = DIALECTS.find(({ path }) => path.test(pathname));
    if (dialect === undefined) return void response.writeHead(404).end();
    const body: Json = await readJson(request);
    const text = JSON.stringify(body);
    requests.push(text);
    const reply = text.includes(MARK) ? await replyTo(dialect.read(body)) : { text: 'done' };
    const isStream = body.stream === true || searchParams.get('alt') === 'sse';
    const events = dialect.write(reply, `id_${requests.length}`, isStream);
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    if (!isStream) return void response.end(JSON.stringify(events.at(-1)));
    for (const event of events) {
      if (dialect.namesEvents) response.write(`event: ${event.type}\n`);
      response.write(`data: ${JSON.stringify(event)}\n\n`);
    }
    response.end(dialect.end === undefined ? '' : `data: ${dialect.end}\n\n`);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  const { url } = await listen(server);
  return {
    url,
    requests,
    first: next.promise,
    reply(reply) {
      const given = next.promise;
      awaited.resolve(reply);
      return given;
    },
  };
}
