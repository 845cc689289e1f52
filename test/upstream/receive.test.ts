import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { asking, calm, failureOf, rejection, useHarness } from './harness.ts';

describe('an exchange with an upstream', () => {
  const { serve, open } = useHarness();
  const listenersOf = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

  it('leaves no listener on its signal, however it ends', async () => {
    const { signal } = new AbortController();
    const statuses = [200, 500, 304];
    const server = await serve((_request, response) => response.writeHead(statuses.shift() ?? 200).end());
    const upstream = open(server.url);
    await upstream.get(asking(), signal);
    await failureOf(upstream.get(asking(), signal));
    await upstream.get({ ...asking(), ifNoneMatch: '"1"' }, signal);
    await server.close();
    await failureOf(upstream.get(asking(), signal));
    await upstream.close();
    await failureOf(upstream.get(asking(), signal));
    expect(listenersOf(signal)).to.equal(0);
  });

  it('takes what comes in many pieces as one body', async () => {
    const server = await serve(async (_request, response) => {
      for (const piece of ['[1', ',2', ',"', 'ö"]']) {
        response.write(piece);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      response.end();
    });
    expect((await open(server.url).get(asking(), calm())).page).to.equal('[1,2,"ö"]');
  });

  it('does not take place once its signal has aborted while it waited for a connection', async () => {
    const server = await serve((_request, response) => setTimeout(() => response.end('[]'), 50));
    const upstream = open(server.url, { connections: 1 });
    const first = upstream.get(asking('/first'), calm());
    const controller = new AbortController();
    const second = rejection(upstream.get(asking('/second'), controller.signal));
    const reason = new Error('the caller hung up');
    controller.abort(reason);
    expect(await second).to.equal(reason);
    expect((await first).page).to.equal('[]');
    expect((await upstream.get(asking('/third'), calm())).page).to.equal('[]');
    expect(server.requests.map((request) => request.url)).to.deep.equal(['/first', '/third']);
  });
});
