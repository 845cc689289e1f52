import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import mount from 'koa-mount';
import { createGateway, type Gateway } from '../../../src/gateway.ts';
import { captureLog } from '../../core/log/captured-log.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { settingsFor } from '../../support/gateway.ts';
import { lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { exchange, get } from '../../support/raw-http.ts';
import { postText, readOf } from '../../support/rpc.ts';

const READ = '/mcp/v1/resources/read?uri=platform://tools';

async function embed(hostOf: (gateway: Gateway) => RequestListener) {
  const platform = await startHttpUpstream(lists({ tools: [toolItem('one')] }));
  const log = captureLog();
  const gateway = createGateway(settingsFor(platform.url), { logger: log.logger });
  await gateway.open();
  const server = createServer(hostOf(gateway)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onCleanup(async () => {
    server.close();
    await gateway.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, log, gateway, ask: (request: string) => exchange(url, request) };
}

const inPrefix = (text: string) => text.replace(' /', ' /portico/');

describe('a gateway in a program of its own', () => {
  it('answers the requests of a server that it does not open', async () => {
    const { ask, log, gateway } = await embed((one) => one.callback());
    expect(() => gateway.url).to.throw('has not started');
    expect((await ask(get(READ))).json()).to.deep.equal([toolItem('one')]);
    expect((await ask(postText(readOf('tools')))).status).to.equal(200);
    expect((await ask(get(READ, { Authorization: undefined }))).status).to.equal(401);
    expect((await ask(get('/livez'))).status).to.equal(200);
    const lines = await log.access(3);
    expect(lines.map(({ route, outcome }) => [route, outcome])).to.deep.include(['/mcp', 'ok']);
  });

  it('answers a message that was read before it with 500, and logs why', async () => {
    const { ask, log } = await embed((one) => async (req, res) => {
      for await (const _ of req);
      one.callback()(req, res);
    });
    expect((await ask(postText(readOf('tools')))).json()).to.include({ status: 500, code: 'internal' });
    expect(log.text()).to.contain('mount it before what parses bodies');
    expect((await ask(get(READ))).status).to.equal(200);
  });

  it('is mounted below a path of another Koa application, whose middleware adds headers and sees the status', async () => {
    const seen: number[] = [];
    const { ask, gateway } = await embed((one) => {
      const outer = new Koa();
      outer.use(async (ctx, next) => {
        ctx.set('X-Outer', 'added');
        await next();
        seen.push(ctx.status);
      });
      outer.use(mount('/portico', one.app));
      outer.use((ctx) => {
        ctx.body = 'another page';
      });
      return outer.callback();
    });
    const read = await ask(inPrefix(get(READ)));
    expect(read.json()).to.deep.equal([toolItem('one')]);
    expect(read.headers.get('x-outer')).to.equal('added');
    expect(read.headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect((await ask(inPrefix(postText(readOf('tools'))))).status).to.equal(200);
    expect((await ask(inPrefix(get('/nothing')))).json()).to.include({ code: 'not_found' });
    expect((await ask(inPrefix(get(READ, { Authorization: undefined })))).json()).to.include({ status: 401 });
    expect(seen).to.deep.equal([200, 200, 404, 401]);
    expect((await ask(get('/other'))).body.toString()).to.equal('another page');
    gateway.change(settingsFor('http://127.0.0.1:9', { resources: { tools: { enabled: false } } }));
    expect((await ask(inPrefix(get(READ)))).json()).to.include({ code: 'resource_unknown' });
  });
});
