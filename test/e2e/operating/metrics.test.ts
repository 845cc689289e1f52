import { METHODS, STATUS_CODES } from 'node:http';
import { expect } from 'chai';
import { parseExposition, type Scraped } from '../../capabilities/metrics/scraped.ts';
import { type RunningGateway, settingsFor, startGateway } from '../../support/gateway.ts';
import type { TestSettings } from '../../support/limits.ts';
import { type HttpUpstream, json, listOf, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { manyTools } from '../../support/platform/loads.ts';
import { exchange, get, openConnection, requestText } from '../../support/raw-http.ts';
import { callOf, postText, readOf, rpc } from '../../support/rpc.ts';

async function scrape({ gateway }: Pick<RunningGateway, 'gateway'>): Promise<Scraped & { readonly text: string }> {
  const response = await exchange(gateway.adminUrl ?? '', get('/metrics', { Authorization: undefined }));
  expect(response.status).to.equal(200);
  const text = response.body.toString();
  return { ...parseExposition(text), text };
}

describe('the metrics of a gateway', () => {
  let platform: HttpUpstream;

  before(async () => {
    platform = await startHttpUpstream(lists({ projects: [], workflows: [], tools: manyTools(5) }), { record: false });
  });
  const start = (settings: Partial<TestSettings> = {}, options = {}) =>
    startGateway({ ...settingsFor(platform.url), admin: { port: 0 }, ...settings }, options);

  it('count reads over both edges, and upstream requests', async () => {
    const running = await start();
    for (let reads = 0; reads < 3; reads += 1) await running.read('tools');
    for (const message of [readOf('tools'), callOf('list_installed_tools', { limit: 'many' })]) {
      expect((await exchange(running.url, postText(message))).status).to.equal(200);
    }
    await running.read('projects');
    const { series } = await scrape(running);
    const http = 'http_server_request_duration_seconds_count';
    const mcp = 'mcp_server_operation_duration_seconds_count';
    const expected = {
      'portico_reads_total{resource="tools",cache="miss"}': 1,
      'portico_reads_total{resource="tools",cache="hit"}': 3,
      'portico_reads_total{resource="projects",cache="bypass"}': 1,
      'portico_list_items_total{resource="tools",outcome="kept"}': 5,
      'portico_snapshots_stored_total{resource="tools"}': 1,
      [`${http}{http_request_method="GET",http_route="/mcp/v1/resources/read",http_response_status_code="200"}`]: 4,
      [`${http}{http_request_method="POST",http_route="/mcp",http_response_status_code="200"}`]: 2,
      [`${mcp}{mcp_method_name="resources/read"}`]: 1,
      [`${mcp}{mcp_method_name="tools/call",gen_ai_tool_name="list_installed_tools",error_type="tool_error"}`]: 1,
      'http_client_request_duration_seconds_count{upstream="tools",http_request_method="GET",http_response_status_code="200"}': 1,
      'portico_bulkhead_running{upstream="tools"}': 0,
      'portico_connections_max{listener="http"}': 10_000,
      'portico_connections{listener="admin"}': 1,
      'portico_connections_max{listener="admin"}': 100,
    };
    for (const [name, value] of Object.entries(expected)) expect(series.get(name), name).to.equal(value);
    expect(series.get('portico_snapshots_held_bytes')).to.be.greaterThan(2048);
  });

  it('report refused settings until others are taken, and name the settings in force by a hash', async () => {
    const settings = { ...settingsFor(platform.url), admin: { port: 0 } };
    const running = await start();
    const reported = async () => {
      const { series } = await scrape(running);
      const hashes = [...series.keys()].filter((name) => name.startsWith('portico_settings_info'));
      expect(hashes).to.have.length(1);
      const [succeeded, pending] = ['last_reload_successful', 'restart_pending'].map((name) =>
        series.get(`portico_settings_${name}`),
      );
      return { hash: hashes[0], succeeded, pending };
    };
    const first = await reported();
    expect(first).to.include({ succeeded: 1, pending: 0 });
    expect(() => running.gateway.change({ ...settings, scheme: 'not a scheme' } as TestSettings)).to.throw();
    expect(await reported()).to.deep.equal({ ...first, succeeded: 0 });
    running.gateway.change({ ...settings, http: { ...settings.http, port: 1 } } as TestSettings);
    const waiting = { ...first, pending: 1 };
    expect(await reported()).to.deep.equal(waiting);
    expect(() => running.gateway.change({ ...settings, scheme: 'not a scheme' } as TestSettings)).to.throw();
    expect(await reported()).to.deep.equal({ ...waiting, succeeded: 0 });
    running.gateway.change(settings as TestSettings);
    expect(await reported()).to.deep.equal(first);
    running.gateway.change({ ...settings, scheme: 'other' } as TestSettings);
    expect((await reported()).hash).not.to.equal(first.hash);
  });

  it('create no series from made-up input', async () => {
    let made = 0;
    const upstream = await startHttpUpstream(
      (request, response) => {
        made += 1;
        const body = { [listOf(request)]: [], nextPageToken: '' };
        const undefinedOne = 600 + (made % 400);
        const any = made % 4 === 1 ? (STATUSES[made % STATUSES.length] ?? 200) : undefinedOne;
        json(body, made % 2 === 0 ? 200 : any)(request, response);
      },
      { record: false },
    );
    const running = await start({
      ...settingsFor(upstream.url, { upstream: { breaker: { minimumCalls: 10_000 }, retry: { attempts: 0 } } }),
      admin: { port: 0 },
    });
    // A scrape is a request like any other, and first seen by the next one.
    await scrape(running);
    await sendHostile(running.url, 0, 2200);
    const settled = await scrape(running);
    await sendHostile(running.url, 2200, 800);
    const after = await scrape(running);
    await upstream.close();
    const added = [...after.series.keys()].filter((name) => !settled.series.has(name));
    // The garbage collector works in a way for the first time whenever it likes.
    expect(added.filter((name) => !/_bucket\{|^nodejs_gc_/.test(name))).to.deep.equal([]);
    expect(after.text).not.to.contain('marked');
    expect(after.series.size).to.be.lessThan(5000);
  });
});

/** All defined statuses, and some undefined ones. Their number is odd, so that each is used in turn. */
const STATUSES = [
  ...Object.keys(STATUS_CODES)
    .map(Number)
    .filter((status) => status >= 200),
  ...[299, 399, 499, 599, 699, 799, 899],
].slice(0, 65);

/** Without `CONNECT`, which ends its connection, and `HEAD`, whose responses have no body. */
const METHODS_SENT = METHODS.filter((method) => !['CONNECT', 'HEAD', 'POST'].includes(method));
const PATHS = ['/mcp', '/mcp/v1/resources', '/mcp/v1/resources/read', '/livez', '/nowhere'];

/** Ways to ask for what each time is another thing, with the number in it. */
const HOSTILE: readonly ((mark: string, number: number) => string)[] = [
  (mark) => get(`/${mark}`),
  (_mark, number) => {
    const round = Math.floor(number / 8);
    const path = PATHS[Math.floor(round / METHODS_SENT.length) % PATHS.length];
    return requestText(METHODS_SENT[round % METHODS_SENT.length] ?? 'GET', path ?? '/');
  },
  (mark) => get(`/mcp/v1/resources/read?uri=platform://${mark}`),
  (mark) => get('/mcp/v1/resources/read?uri=platform://tools', { Authorization: `Bearer ${mark}` }),
  (mark) => postText(rpc(mark)),
  (mark) => postText(rpc('tools/call', { name: mark })),
  (mark) => postText(callOf('list_installed_tools', { [mark]: mark })),
  (mark) => get('/mcp/v1/resources', { Authorization: mark, 'X-Request-Id': mark }),
];

/** Sends them by turns, a hundred on one connection, and takes all responses. */
async function sendHostile(url: string, from: number, count: number): Promise<void> {
  for (let sent = from; sent < from + count; sent += 100) {
    const connection = openConnection(url);
    const requests = Array.from({ length: 100 }, (_, index) => sent + index).map(
      (number) => HOSTILE[number % HOSTILE.length]?.(`marked-${number}`, number) ?? '',
    );
    connection.send(requests.join(''));
    for (const _ of requests) await connection.receive();
    connection.socket.destroy();
  }
}
