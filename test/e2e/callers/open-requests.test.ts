import diagnostics from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { expect } from 'chai';
import Koa from 'koa';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { exchange, get, openConnection } from '../../support/raw-http.ts';
import { postText, RPC_FIELDS, readOf } from '../../support/rpc.ts';

const READ = '/mcp/v1/resources/read?uri=platform://tools';
const MARK = 'marked-token-of-the-test';
const fields = { Authorization: `Bearer ${MARK}`, ...RPC_FIELDS };
/** Where the mark stands in a header that settings name. */
const OTHER = 'a read with a credential in a header of its own';
const BY_OTHER = { kind: 'header', name: 'X-Api-Key', from: 'X-Acme-Key' } as const;

/** Each way into a read. The second one goes through Koa's router. */
const WAYS: Readonly<Record<string, string>> = {
  'a read': get(READ, fields),
  'a read whose target is spelled otherwise': get(`${READ}&more=1`, fields),
  [OTHER]: get(READ, { Authorization: 'Bearer plain', 'x-acme-KEY': MARK }),
  'a message over MCP': postText(readOf('tools'), fields),
};

/** Listens to a channel for as long as a test runs. */
function collect<T>(channel: string): T[] {
  const told: T[] = [];
  const listen = (each: unknown) => void told.push(each as T);
  diagnostics.subscribe(channel, listen);
  onCleanup(() => diagnostics.unsubscribe(channel, listen));
  return told;
}

/** All that Node and Koa show of a request. */
function shown(request: IncomingMessage, response: ServerResponse): string {
  const app = new Koa();
  const context = app.createContext(request, response);
  return [
    inspect([request.headers, request.rawHeaders, request.headersDistinct, response.getHeaders()], { depth: null }),
    // Without getters: those of the prototype of all requests would be called on itself, and its answers be those of all.
    inspect(request, { depth: 8, showHidden: true, maxArrayLength: null }),
    inspect(context, { depth: 8 }),
    JSON.stringify([app, context, context.request, context.req.headers]),
  ].join('\n');
}

describe('a token', () => {
  for (const [way, request] of Object.entries(WAYS)) {
    it(`does not appear in the request objects of Node and Koa, during the request or afterwards: ${way}`, async () => {
      const asked = Promise.withResolvers<() => void>();
      const platform = await startHttpUpstream((_, response) => {
        asked.resolve(() => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"tools":[]}'));
      });
      const upstream = way === OTHER ? { credential: BY_OTHER } : {};
      const { url } = await startGateway(settingsFor(platform.url, { upstream }));
      const begun = collect<{ request: IncomingMessage; response: ServerResponse }>('http.server.request.start');
      const connection = openConnection(url);
      connection.send(request);
      const answer = await asked.promise;
      const ours = begun.find(({ request: { method, url: target } }) => request.startsWith(`${method} ${target}`));
      if (ours === undefined) expect.fail('Node told of no request');
      const open = shown(ours.request, ours.response);
      expect(open).to.contain('[credential]').and.not.contain(MARK);
      answer();
      expect((await connection.receive()).status).to.equal(200);
      expect(shown(ours.request, ours.response)).not.to.contain(MARK);
      // The platform has it all the same.
      const { authorization, 'x-api-key': key } = platform.requests[0]?.headers ?? {};
      expect(way === OTHER ? `Bearer ${key}` : authorization).to.equal(`Bearer ${MARK}`);
    });
  }

  it('does not appear in an error that undici publishes', async () => {
    const platform = await startHttpUpstream((request, response) => {
      const { authorization } = request.headers;
      if (request.url?.includes('workflows')) request.socket.resetAndDestroy();
      else if (request.url?.includes('tools')) request.socket.end('HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n');
      else response.writeHead(500, { 'X-Echo': authorization }).end(`no ${authorization}`);
    });
    const { url } = await startGateway(settingsFor(platform.url, { upstream: { retry: { baseDelayMs: 1 } } }));
    const failed = collect<{ error: unknown }>('undici:request:error');
    for (const name of ['projects', 'workflows', 'tools']) {
      const { status } = await exchange(url, get(`/mcp/v1/resources/read?uri=platform://${name}`, fields));
      expect(status).to.equal(502);
    }
    await eventually(() => failed.length >= 2);
    for (const { error } of failed) {
      expect(inspect(error, { depth: null, showHidden: true, getters: true })).not.to.contain(MARK);
    }
  });
});
