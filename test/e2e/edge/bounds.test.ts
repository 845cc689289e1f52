import { expect } from 'chai';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { type HttpUpstream, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { manyTools } from '../../support/platform/loads.ts';
import { exchange, get, openConnection } from '../../support/raw-http.ts';

const LIST = '/mcp/v1/resources';
const READ = `${LIST}/read?uri=platform://tools`;

describe('requests of unusual size', () => {
  let platform: HttpUpstream;
  let url: string;

  before(async () => {
    platform = await startHttpUpstream(lists({ tools: manyTools() }));
    ({ url } = await startGateway(settingsFor(platform.url)));
  });

  it('get the coding that each accepts, after many other Accept-Encoding values', async () => {
    const values = Array.from({ length: 300 }, (_, index) => {
      const coding = (['gzip', 'zstd', 'identity'] as const)[index % 3] ?? 'gzip';
      return { coding, accepts: `${coding};q=0.${String(index + 500)}, *;q=0` };
    });
    const connection = openConnection(url);
    for (const { coding, accepts } of [...values, ...values.toReversed()]) {
      connection.send(get(READ, { 'Accept-Encoding': accepts }));
      const { status, headers } = await connection.receive();
      expect([status, headers.get('content-encoding') ?? 'identity']).to.deep.equal([200, coding]);
    }
  });

  it('cannot hide a second Authorization field behind 2,100 other fields', async () => {
    const many = 'a:\r\n'.repeat(2100);
    for (const target of [LIST, READ]) {
      const request = get(target).replace(/\r\n\r\n$/, `\r\n${many}Authorization: Bearer another\r\n\r\n`);
      const response = await exchange(url, request);
      expect(response.status).to.equal(400);
      expect(response.json()).to.include({ code: 'invalid_request' });
      // So many of them are no mistake as such.
      expect((await exchange(url, request.replace('Authorization: Bearer another\r\n', ''))).status).to.equal(200);
    }
  });
});
