import { expect } from 'chai';
import { parse } from 'yaml';
import { loadSettings } from '../../../src/composition.ts';
import { startDemoPlatform } from '../../../src/demo/platform.ts';
import type { SettingsInput } from '../../../src/gateway.ts';
import { probe } from '../../../src/setup/probe/probe-command.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { atDepth } from '../../support/depth.ts';
import { startGateway } from '../../support/gateway.ts';
import { answerAs, EXAMPLE_PLATFORMS, exampleSettings } from '../../support/platform/example-platforms.ts';
import { startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { inFolder, writeSettings } from '../../support/process/process.ts';
import { TOKEN } from './probed.ts';

const IN_FULL = atDepth(0, 1) === 1;
const RESOURCES = ['projects', 'workflows', 'tools'] as const;

describe('the examples give no false alarm', () => {
  it('are all served by a stub', () => {
    for (const [example, { lists }] of Object.entries(EXAMPLE_PLATFORMS)) {
      expect(exampleSettings(example, '')).to.contain('upstreams:');
      expect(Object.keys(lists)).to.have.lengthOf(RESOURCES.length);
    }
    expect(Object.keys(EXAMPLE_PLATFORMS)).to.have.lengthOf(15);
  });

  for (const [example, served] of Object.entries(EXAMPLE_PLATFORMS)) {
    const text = exampleSettings(example, 'http://a.example');
    const { resources = {} } = parse(text, { logLevel: 'error' }) as SettingsInput;
    const sizes = RESOURCES.map((name) => (resources[name]?.pagination as { size?: number })?.size ?? 100);
    const lengths: Readonly<Record<string, (index: number) => number>> = {
      'no items': () => 0,
      'five items that fit all filters': () => 5,
      'one full page': (index) => sizes[index] ?? 0,
      'two pages and one item': (index) => 2 * (sizes[index] ?? 0) + 1,
      ...(IN_FULL && { 'one item': () => 1, 'thirty items': () => 30 }),
    };
    for (const [what, lengthOf] of Object.entries(lengths)) {
      const fitsAll = what.endsWith('filters');
      it(`${example}, for ${what}`, async () => {
        const { url } = await startHttpUpstream(answerAs(served, { token: TOKEN, lengthOf, fitsAll }));
        const yaml = exampleSettings(example, url);
        const expected = RESOURCES.map((_name, index) => lengthOf(index));
        await inFolder(async (folder) => {
          const file = await writeSettings(folder, yaml);
          const loaded = await loadSettings(file, { ...served.env, PORTICO_TOKEN: TOKEN });
          expect(loaded.warnings).to.deep.equal([]);

          const report = await probe(file, loaded, { strict: true });
          const alarms = report.resources.flatMap(({ resource, error, warnings, notTried }) => [
            ...(error === undefined ? [] : [`${resource}: ${error.code} ${error.reason}`]),
            ...warnings
              .filter(({ finding }) => !(what === 'no items' && finding === 'list_empty'))
              .filter((warning) => !('mayBeRight' in warning && fitsAll))
              .map((warning) => `${resource}: ${warning.text}`),
            ...notTried.map(({ experiment, why }) => `${resource}: ${experiment} not tried: ${why}`),
          ]);
          expect(alarms).to.deep.equal([]);
          expect(report.resources.map(({ items }) => items)).to.deep.equal(expected);
          expect(report.ok).to.equal(what !== 'no items');

          const { http, verification: _, ...rest } = loaded.config;
          const tokens = { allowUnverifiedCallers: true };
          const options = {
            ...tokens,
            http: { ...http, port: 0 },
            admin: { enabled: false },
            log: { level: 'silent' as const },
          };
          const { read } = await startGateway({ ...rest, ...options });
          const countOf = async (name: string) => {
            const response = await read(name);
            expect(response.status).to.equal(200);
            return new Set(((await response.json()) as { id: string }[]).map(({ id }) => id)).size;
          };
          expect(await Promise.all(RESOURCES.map(countOf))).to.deep.equal(expected);
        });
      });
    }
  }
});

describe('the default contract as the demo serves it gives no false alarm', () => {
  for (const maxPageSize of [2, 100]) {
    it(`in pages of ${maxPageSize} at most`, async () => {
      const { urls, close } = await startDemoPlatform({ maxPageSize });
      onCleanup(close);
      const upstreams = Object.entries(urls).map(([name, baseUrl]) => [name, { baseUrl }]);
      const { ok, resources } = await inFolder(async (folder) => {
        const file = await writeSettings(folder, JSON.stringify({ upstreams: Object.fromEntries(upstreams) }));
        return probe(file, await loadSettings(file, { PORTICO_TOKEN: 'demo-alice' }), { strict: true });
      });
      expect(resources.flatMap(({ warnings, notTried }) => [...warnings, ...notTried])).to.deep.equal([]);
      expect(ok).to.equal(true);
    });
  }
});
