import { expect } from 'chai';
import { captureLog } from '../../core/log/captured-log.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';

const tools = [
  { id: 'a', name: 'A', type: 'tab' },
  { id: 'b', name: 'B', type: 'tab' },
];

async function withTools(resource: object, list: readonly object[] = tools) {
  const upstream = await startHttpUpstream(json({ tools: list, nextPageToken: '' }));
  const log = captureLog('info');
  const settings = settingsFor(upstream.url, { resources: { tools: { cache: { ttlMs: 0 }, ...resource } } });
  const { gateway, read } = await startGateway(settings, { logger: log.logger });
  return {
    reload: () => gateway.change({ ...settings, log: { level: 'warn' } }),
    async read() {
      const response = await read('tools');
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    doubts: () => log.lines().filter(({ msg }) => msg === 'mapping warning'),
    requests: () => log.lines().filter(({ msg }) => msg === 'request'),
  };
}

describe('a list with mapping warnings', () => {
  it('is served with allowEmpty, with one warning a minute that nothing is left', async () => {
    const { read, doubts } = await withTools({ where: 'type == tab', allowEmpty: true });
    for (let count = 0; count < 3; count += 1) expect(await read()).to.deep.equal({ status: 200, body: [] });
    expect(doubts()).to.have.length(1);
    expect(doubts()[0]).to.include({
      level: 'warn',
      resource: 'tools',
      upstream: 'tools',
      finding: 'nothing_left',
    });
  });

  it('is not reported again within the minute after a reload', async () => {
    const { read, reload, doubts } = await withTools({ where: 'type == tab', allowEmpty: true });
    await read();
    expect(reload().applied).to.deep.equal(['log.level']);
    await read();
    expect(doubts()).to.have.length(1);
  });

  it('is served, with one warning a minute for each field that is empty in all items', async () => {
    const { read, doubts } = await withTools({ fields: { category: 'other', version: 'release' } });
    for (let count = 0; count < 3; count += 1) expect((await read()).status).to.equal(200);
    expect(doubts().map(({ finding, field }) => [finding, field])).to.have.deep.members([
      ['field_empty', 'category'],
      ['field_empty', 'version'],
    ]);
  });

  it('is upstream_invalid with strictMapping', async () => {
    const cases = [[{ fields: { category: 'other' } }, 'the field category is empty in every item']] as const;
    for (const [resource, what] of cases) {
      const { read, requests, doubts } = await withTools({ ...resource, strictMapping: true });
      const { status, body } = await read();
      expect(status).to.equal(502);
      expect(body).to.include({ code: 'upstream_invalid', upstream: 'tools' });
      expect(body['detail']).to.contain(what).and.to.contain('strictMapping');
      expect(requests()[0]).to.include({ reason: `${what} (strictMapping)` });
      expect(doubts()).to.deep.equal([]);
    }
  });

  it('has no warning when the platform has no items, when some are left, or for unmapped fields', async () => {
    const resource = { where: "type == 'tab'", fields: { category: 'type' }, strictMapping: true };
    for (const list of [[], tools, [...tools, { id: 'c', name: 'C', type: 'x' }]]) {
      const { read, doubts } = await withTools(resource, list);
      expect((await read()).status).to.equal(200);
      expect(doubts()).to.deep.equal([]);
    }
  });
});
