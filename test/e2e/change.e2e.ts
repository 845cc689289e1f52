import { readdir } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import type { SettingsInput } from '../../src/gateway.ts';
import { eventually } from '../support/eventually.ts';
import { settingsFor, startGateway } from '../support/gateway.ts';
import { listOf, startHttpUpstream } from '../support/http-upstream.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const CHANGES = 1000;
const READERS = 8;
/** What may be held more than before, in this process of a test: of a thousand cores, each of some 900 KB, twenty. */
const MORE_BYTES = 20_000_000;

describe('a gateway under load', () => {
  it(`fails no read while its settings change ${CHANGES} times, and holds nothing of the old ones`, async () => {
    const platform = await startHttpUpstream(
      (request, response) => {
        const name = listOf(request);
        const items = Array.from({ length: 50 }, (_, index) => ({
          id: `${index}`,
          name: `old ${index}`,
          title: `new ${index}`,
        }));
        response.end(JSON.stringify({ [name]: items, nextPageToken: '' }));
      },
      { record: false },
    );
    /** Each changes one resource in one way: its mapping, its upstream, or the time that it is kept. */
    const variants: readonly SettingsInput[] = [
      {},
      { resources: { tools: { fields: { name: 'title' } } } },
      { resources: { workflows: { cache: { ttlMs: 5 } } } },
      { upstream: { timeoutMs: 9000 } },
      { limits: { perCaller: 1_000_000_000 } },
    ].map((overrides) => settingsFor(platform.url, { cache: { reuseMaxBytes: 65_536 }, ...overrides }));
    const { gateway, url } = await startGateway(variants[0] as SettingsInput);
    const outcomes = new Map<string, number>();
    let isOver = false;

    async function readOn(reader: number): Promise<void> {
      for (let turn = 0; !isOver; turn += 1) {
        const name = ['projects', 'workflows', 'tools'][turn % 3];
        const headers = { authorization: `Bearer caller-${reader}-${turn % 20}` };
        const response = await fetch(`${url}/mcp/v1/resources/read?uri=platform://${name}`, { headers });
        const items = response.ok ? ((await response.json()) as { name: string }[]) : [];
        const kinds = new Set(items.map((item) => item.name.split(' ')[0]));
        const outcome = `${response.status} ${items.length} ${kinds.size}`;
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
    }
    async function changeAll(times: number): Promise<void> {
      for (let time = 0; time < times; time += 1) {
        gateway.change(variants[time % variants.length] as SettingsInput);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    }
    const held = () => {
      collectGarbage();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const descriptors = async () => (await readdir('/proc/self/fd')).length;

    const readers = Array.from({ length: READERS }, (_, reader) => readOn(reader));
    await changeAll(200);
    const before = { held: held(), descriptors: await descriptors() };
    await changeAll(CHANGES);
    isOver = true;
    await Promise.all(readers);
    gateway.change(variants[0] as SettingsInput);
    expect([...outcomes.keys()]).to.deep.equal(['200 50 1']);
    expect(outcomes.get('200 50 1')).to.be.above(CHANGES);
    // Connections of upstreams that are not needed any more are closed, and those of readers at rest stay.
    await eventually(async () => (await descriptors()) <= before.descriptors + READERS);
    expect(held() - before.held).to.be.below(MORE_BYTES);
    await gateway.close();
    await platform.close();
  }).timeout(180_000);
});
