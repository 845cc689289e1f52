import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { atDepth } from '../../support/depth.ts';
import { json, listOf, lists, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';
import { boundedSettings } from '../../support/process/limits-of-process.ts';
import { startServing } from '../../support/process/serving.ts';

const CALLERS = atDepth(2000, 10_000);
const AT_ONCE = 64;
const HEAP = { NODE_OPTIONS: '--max-old-space-size=128' };

describe(`${CALLERS} callers, each with its own exchanged token`, function () {
  this.timeout(600_000);

  for (const [what, maxKeptBytes, again] of [
    ['are all kept within the default', 33_554_432, 0],
    ['are served within a bound that holds a tenth of them', 262 * CALLERS, CALLERS],
  ] as const) {
    it(`${what}, under a heap of 128 MB`, async () => {
      let exchanges = 0;
      const server = await startHttpUpstream(
        async (request, response) => {
          let body = '';
          for await (const chunk of request) body += chunk;
          exchanges += 1;
          const subject = new URLSearchParams(body).get('subject_token');
          const token = { access_token: `${subject}.`.padEnd(2048, 'x'), token_type: 'Bearer', expires_in: 3600 };
          json(token)(request, response);
        },
        { record: false },
      );
      const echo: RequestListener = (request, response) => {
        const [subject = ''] = tokenOf(request).split('.');
        lists({ [listOf(request)]: [{ id: subject, name: 'N' }] })(request, response);
      };
      const platform = await startHttpUpstream(echo, { record: false });
      const credential = `{ kind: exchange, tokenUrl: ${server.url}/token, audience: a, maxKeptBytes: ${maxKeptBytes}, client: { kind: client_secret_basic, id: p, secret: s } }`;
      const { yaml, env } = boundedSettings(
        `http: { port: 0 }\nadmin: { enabled: false }\nupstreams: { projects: { baseUrl: ${platform.url}, credential: ${credential} } }\n`,
        HEAP,
      );
      const portico = await startServing(yaml, env);
      const url = `${portico.url}/mcp/v1/resources/read?uri=platform://projects`;
      const round = async () => {
        let next = 0;
        const worker = async () => {
          for (let caller = next++; caller < CALLERS; caller = next++) {
            const response = await fetch(url, { headers: { authorization: `Bearer caller-${caller}` } });
            expect([response.status, await response.text()]).to.deep.equal([
              200,
              JSON.stringify([{ id: `caller-${caller}`, name: 'N', description: '', createTime: '' }]),
            ]);
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, worker));
      };
      await round();
      expect(exchanges).to.equal(CALLERS);
      await round();
      expect(exchanges - CALLERS).to.equal(again);
      expect((await portico.stop()).code).to.equal(0);
    });
  }
});
