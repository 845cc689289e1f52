import { connect } from 'node:net';
import { expect } from 'chai';
import { captureLog } from '../../core/log/captured-log.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { type HttpUpstream, json, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';
import { newFolder } from '../../support/process/process.ts';
import { exchange, get, openConnection } from '../../support/raw-http.ts';
import { postText, rpc } from '../../support/rpc.ts';

const LIST = '/mcp/v1/resources';
const READ = `${LIST}/read?uri=platform://tools`;

const ping = (id: number) => rpc('ping', {}, id);
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const post = (message: unknown, token = 'posting') => postText(message, bearer(token));
const from = (address: string, headers: Record<string, string | undefined> = {}) => ({
  'X-Forwarded-For': address,
  ...headers,
});

describe('rate limits', () => {
  let platform: HttpUpstream;

  before(async () => {
    platform = await startHttpUpstream((request, response) =>
      json({ tools: [] }, tokenOf(request).startsWith('refused') ? 401 : 200)(request, response),
    );
  });

  async function start(limits: object, http: object = {}, mcp: object = {}, base = platform.url) {
    const log = captureLog();
    const { http: defaults, ...settings } = settingsFor(base, { limits, mcp });
    const { url } = await startGateway({ ...settings, http: { ...defaults, ...http } }, { logger: log.logger });
    return {
      url,
      bounds: () =>
        log
          .lines()
          .filter(({ msg }) => msg === 'limit reached')
          .map(({ bound }) => bound),
      text: () => JSON.stringify(log.lines()),
      ask: (request: string) => exchange(url, request),
      statuses: async (...requests: string[]) => {
        const found: number[] = [];
        for (const request of requests) found.push((await exchange(url, request)).status);
        return found;
      },
    };
  }

  it('are off unless settings have them, and then no header names them', async () => {
    const { ask } = await start({});
    const { headers } = await ask(get(READ));
    expect([headers.get('RateLimit'), headers.get('RateLimit-Policy')]).to.deep.equal([null, null]);
  });

  describe('of a caller', () => {
    it('are in the headers of each response, also of an error and a 304', async () => {
      const { ask } = await start({ perCaller: 100 });
      const first = await ask(get(READ, bearer('a')));
      expect(first.headers.get('RateLimit-Policy')).to.equal('"caller";q=100;w=60');
      expect(first.headers.get('RateLimit')).to.match(/^"caller";r=99;t=(?:60|59)$/);
      const again = await ask(get(READ, { ...bearer('a'), 'If-None-Match': String(first.headers.get('ETag')) }));
      expect(again.status).to.equal(304);
      expect(again.headers.get('RateLimit')).to.match(/r=98;/);
      const wrong = await ask(get(`${LIST}/read?uri=platform://nothing`, bearer('a')));
      expect([wrong.status, wrong.headers.get('RateLimit')?.split(';')[1]]).to.deep.equal([404, 'r=97']);
      const posted = await ask(post(ping(1), 'a'));
      expect([posted.status, posted.headers.get('RateLimit')?.split(';')[1]]).to.deep.equal([200, 'r=96']);
    });

    it('refuse requests beyond the limit until the window ends, of this caller only', async () => {
      const { ask, statuses, bounds } = await start({ perCaller: 2, windowMs: 30_000 });
      expect(await statuses(get(READ, bearer('a')), get(LIST, bearer('a')))).to.deep.equal([200, 200]);
      const refused = await ask(get(READ, bearer('a')));
      expect(refused.status).to.equal(429);
      expect(refused.json()).to.include({ code: 'rate_limited', status: 429 });
      const [, seconds] = /^"caller";r=0;t=(\d+)$/.exec(refused.headers.get('RateLimit') ?? '') ?? [];
      expect(Number(seconds)).to.be.within(1, 30);
      expect(refused.headers.get('Retry-After')).to.equal(seconds);
      expect(refused.json()['retryAfterSeconds']).to.equal(Number(seconds));
      expect(refused.headers.get('RateLimit-Policy')).to.equal('"caller";q=2;w=30');
      expect(bounds()).to.deep.equal(['limits.perCaller']);
      expect(await statuses(get(READ, bearer('b')))).to.deep.equal([200]);
    });

    it('drop the least recent caller if there are more than maxKeys', async () => {
      const { statuses } = await start({ perCaller: 1, maxKeys: 2 });
      const of = (token: string) => get(LIST, bearer(token));
      expect(await statuses(of('a'), of('b'), of('a'), of('c'))).to.deep.equal([200, 200, 429, 200]);
      expect(await statuses(of('a'), of('b'))).to.deep.equal([429, 200]);
    });
  });

  describe('of an address', () => {
    const proxied = { trustedProxies: ['127.0.0.0/8'] };
    const elsewhere = from('203.0.113.9', bearer('elsewhere'));

    /** Sends many requests over one connection, one after another, and counts their statuses. */
    async function flood(url: string, requests: readonly string[]): Promise<Record<number, number>> {
      const connection = openConnection(url);
      const counts: Record<number, number> = {};
      for (const request of requests) {
        connection.send(request);
        const { status } = await connection.receive();
        counts[status] = (counts[status] ?? 0) + 1;
      }
      connection.socket.destroy();
      return counts;
    }

    const madeUp = (count: number, request = (headers: object) => get(READ, { ...headers })) =>
      Array.from({ length: count }, (_, index) => request(bearer(`refused-made-up-${index}`)));

    it('hold for many made-up tokens as for ten callers, and for no other address', async () => {
      const { url, bounds, statuses } = await start({ perCaller: 5 }, proxied);
      const asked = platform.requests.length;
      expect(await flood(url, madeUp(300))).to.deep.equal({ 401: 50, 429: 250 });
      expect(platform.requests.length - asked).to.equal(50);
      expect(new Set(bounds())).to.deep.equal(new Set(['limits.perAddress']));
      expect(await statuses(get(READ, elsewhere))).to.deep.equal([200]);
    });

    it('hold over MCP, also for messages that read nothing', async () => {
      const { url, statuses } = await start({ perCaller: 5, perAddress: 20 }, proxied);
      const pings = Array.from({ length: 100 }, (_, index) => post(ping(index), `made-up-${index}`));
      expect(await flood(url, pings)).to.deep.equal({ 200: 20, 429: 80 });
      expect(await statuses(postText(ping(1), elsewhere))).to.deep.equal([200]);
    });

    it('take nothing from callers whose token a platform has accepted, nor they from it', async () => {
      const { statuses } = await start({ perCaller: 5, perAddress: 3 });
      const good = get(READ, bearer('accepted-here'));
      expect(await statuses(good, good, good)).to.deep.equal([200, 200, 200]);
      expect(await statuses(...madeUp(2), get(READ, bearer('new-here')), ...madeUp(2))).to.deep.equal([
        401, 401, 200, 401, 429,
      ]);
      expect(await statuses(get(READ, bearer('another')), good, good, good)).to.deep.equal([429, 200, 200, 429]);
    });

    it('lose nothing to what one caller sends beyond its own', async () => {
      const { statuses } = await start({ perCaller: 1, perAddress: 3 });
      const one = get(READ, bearer('refused-again'));
      expect(await statuses(one, one, one, one)).to.deep.equal([401, 429, 429, 429]);
      expect(await statuses(...madeUp(4))).to.deep.equal([401, 401, 429, 429]);
    });

    it('have no count of a caller forgotten for tokens that are made up beyond it', async () => {
      const { statuses } = await start({ perCaller: 2, perAddress: 2, maxKeys: 3 });
      const one = get(READ, bearer('accepted-greedy'));
      expect(await statuses(one, one, one)).to.deep.equal([200, 200, 429]);
      expect(await statuses(...madeUp(10), one)).to.deep.equal([401, 401, ...Array(9).fill(429)]);
    });
  });

  describe('over MCP', () => {
    it('are a problem before the message is read, as over HTTP', async () => {
      const { ask } = await start({ perCaller: 1 });
      expect((await ask(post(ping(1)))).status).to.equal(200);
      const refused = await ask(post(ping(2)));
      const { code, retryAfterSeconds } = refused.json();
      expect([refused.status, code]).to.deep.equal([429, 'rate_limited']);
      expect(refused.headers.get('RateLimit')).to.match(/^"caller";r=0;t=\d+$/);
      expect(refused.headers.get('Retry-After')).to.equal(String(retryAfterSeconds));
    });
  });

  describe('of messages without a token', () => {
    it('do not use up the limit of callers with a token at the same address', async () => {
      const { statuses } = await start({ perAddress: 2 }, {}, { publicLists: true });
      const flood = Array.from({ length: 4 }, () => post(ping(1)).replace(/Authorization: .*\r\n/, ''));
      expect(await statuses(...flood)).to.deep.equal([200, 200, 429, 429]);
      expect(await statuses(get(LIST, bearer('a')), get(LIST, bearer('b')))).to.deep.equal([200, 200]);
      expect(await statuses(get(LIST, bearer('a')))).to.deep.equal([429]);
    });

    it('hold for nothing that needs no token', async () => {
      const { statuses } = await start({ perCaller: 1, perAddress: 1 });
      const none = { Authorization: undefined };
      expect(await statuses(get(LIST, none), get(LIST, none))).to.deep.equal([401, 401]);
      const open = ['/livez', '/readyz', '/openapi.json', '/nowhere'].map((path) => get(path, none));
      expect(await statuses(...open, ...open)).to.deep.equal([200, 200, 200, 404, 200, 200, 200, 404]);
    });
  });

  describe('of tokens that are being judged', () => {
    it('hold for a burst over many connections, too', async () => {
      const { ask, statuses, bounds } = await start({ perAddress: 5 });
      const asked = platform.requests.length;
      const guesses = Array.from({ length: 60 }, (_, index) => ask(get(READ, bearer(`refused-in-burst-${index}`))));
      const found = (await Promise.all(guesses)).map(({ status }) => status);
      expect(found.filter((status) => status === 401)).to.have.length(5);
      expect(found.filter((status) => status === 429)).to.have.length(55);
      expect([platform.requests.length - asked, bounds()[0]]).to.deep.equal([5, 'limits.perAddress']);
      expect(await statuses(get(READ, bearer('good')))).to.deep.equal([429]);
    });

    it('count from the start of a request, and no longer once its token is accepted', async () => {
      const hung: (() => void)[] = [];
      const slow = await startHttpUpstream((request, response) => {
        const reply = () => json({ tools: [] })(request, response);
        if (tokenOf(request).startsWith('slow')) hung.push(reply);
        else reply();
      });
      onCleanup(() => slow.close());
      const { ask, statuses } = await start({ perAddress: 2 }, {}, {}, slow.url);
      expect(await statuses(get(READ, bearer('accepted')))).to.deep.equal([200]);
      const judged = [1, 2].map((index) => ask(get(READ, bearer(`slow-${index}`))));
      await eventually(() => hung.length === 2);
      expect(await statuses(get(READ, bearer('accepted')), get(READ, bearer('new')))).to.deep.equal([200, 429]);
      for (const reply of hung) reply();
      expect((await Promise.all(judged)).map(({ status }) => status)).to.deep.equal([200, 200]);
      expect(await statuses(get(READ, bearer('new')))).to.deep.equal([200]);
    });

    it('count tokens whose caller hangs up before the platform has answered', async () => {
      let asked = 0;
      const silent = await startHttpUpstream(() => {
        asked += 1;
      });
      onCleanup(() => silent.close());
      const { url, statuses, bounds } = await start({ perAddress: 2 }, {}, {}, silent.url);
      const { hostname, port } = new URL(url);
      const sockets = [1, 2].map((index) => {
        const socket = connect(Number(port), hostname);
        socket.write(get(READ, bearer(`gone-${index}`)));
        return socket;
      });
      await eventually(() => asked === 2);
      for (const socket of sockets) socket.destroy();
      await eventually(async () => (await statuses(get(READ, bearer('gone-3')))).join() === '429');
      expect([asked, bounds().at(-1)]).to.deep.equal([2, 'limits.perAddress']);
    });
  });

  describe('behind proxies', () => {
    const wrong = (address: string) => get(READ, from(address, bearer(`refused-from-${address.length}`)));
    const three = ['203.0.113.1', '203.0.113.2', '203.0.113.1'].map(wrong);

    it('hold for the addresses that a trusted proxy reports, one by one, and no log names them', async () => {
      const { statuses, text } = await start({ perAddress: 1 }, { trustedProxies: ['127.0.0.0/8'] });
      expect(await statuses(...three)).to.deep.equal([401, 401, 429]);
      // A client cannot come as another one.
      expect(await statuses(wrong('203.0.113.3, 203.0.113.1'))).to.deep.equal([429]);
      expect(await statuses(get(READ, from('203.0.113.9', bearer('good'))))).to.deep.equal([200]);
      expect(text()).not.to.include('203.0.113');
    });

    it('ignore the forwarded address of a proxy that is not trusted', async () => {
      const { statuses } = await start({ perAddress: 1 });
      expect(await statuses(...three)).to.deep.equal([401, 429, 429]);
    });

    it('hold for a Unix socket as for one address, unless what connects to it is trusted', async () => {
      const folder = await newFolder();
      const one = await start({ perAddress: 1 }, { socketPath: `${folder}/one` });
      expect(await one.statuses(...three)).to.deep.equal([401, 429, 429]);
      const two = await start({ perAddress: 1 }, { socketPath: `${folder}/two`, trustedProxies: ['unix'] });
      expect(await two.statuses(...three)).to.deep.equal([401, 401, 429]);
    });
  });
});
