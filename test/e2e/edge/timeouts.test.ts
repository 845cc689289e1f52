import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { type HttpUpstream, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { get, openConnection } from '../../support/raw-http.ts';

const READ = '/mcp/v1/resources/read?uri=platform://tools';
const TOOLS = lists({ tools: [{ id: 'a', name: 'A' }] });

/** Far later than all that these tests wait for. */
const NEVER_MS = 60_000;

describe('the timeouts of a gateway', () => {
  let platform: HttpUpstream;

  beforeEach(async () => {
    platform = await startHttpUpstream(TOOLS);
  });

  it('answer 408 after headersTimeoutMs', async () => {
    const http = { headersTimeoutMs: 100, requestTimeoutMs: NEVER_MS };
    const { url } = await startGateway(settingsFor(platform.url, { http }));
    const connection = openConnection(url);
    connection.send('GET / HTTP/1.1\r\nHost: localhost\r\n');
    const { responses } = await connection.closed();
    expect(responses.map(({ status }) => status)).to.deep.equal([408]);
    expect(responses[0]?.json()).to.include({ code: 'request_timeout' });
  });

  it('answer 408 after requestTimeoutMs when a body never ends', async () => {
    const http = { headersTimeoutMs: 100, requestTimeoutMs: 300 };
    const { url } = await startGateway(settingsFor(platform.url, { http }));
    const connection = openConnection(url);
    connection.send(
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a\r\n' +
        'Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    );
    const { responses } = await connection.closed();
    expect(responses.map(({ status }) => status)).to.deep.equal([408]);
  });

  it('do not apply sendTimeoutMs while the platform is slow', async () => {
    platform.respond((request, response) => void setTimeout(() => TOOLS(request, response), 1500));
    const { read } = await startGateway(settingsFor(platform.url, { http: { sendTimeoutMs: 300 } }));
    const response = await read('tools');
    expect(response.status).to.equal(200);
    expect(await response.json()).to.have.length(1);
  });

  it('do not affect Date, which is the time of each response', async () => {
    const { url } = await startGateway(settingsFor(platform.url));
    const connection = openConnection(url);
    const dateOf = async () => {
      connection.send(get(READ));
      const { status, headers } = await connection.receive();
      expect(status).to.equal(200);
      return Date.parse(headers.get('date') ?? '');
    };
    const begun = Date.now();
    const first = await dateOf();
    expect(first).to.be.within(begun - 2000, Date.now());
    await eventually(async () => (await dateOf()) >= first + 2000);
    expect(Date.now()).to.be.at.least(first + 2000);
  });
});
