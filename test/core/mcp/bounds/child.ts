import { createRepresentations } from '../../../../src/core/reads/representations/representations.ts';
import { createSnapshotCache } from '../../../../src/core/reads/snapshots/cache.ts';
import type { Load } from '../../../../src/core/reads/snapshots/load.ts';
import { toolItem } from '../../../support/platform/loads.ts';
import { longestTurn, processorMs, TICK_MS } from '../../../support/process/processor-time.ts';
import { callOf, readOf, rpc } from '../../../support/rpc.ts';
import { asked, loadOf } from '../asked.ts';
import { everywhere, listOf, manyItems, WIDE } from './inputs.ts';

const TOOLS = 'list_installed_tools';

/** What `work` comes to, and the most bytes it held outside the heap: when garbage is collected does not matter. */
async function heldBy<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly mostHeldMiB: number }> {
  if (gc === undefined) throw new Error('started without --expose-gc');
  gc();
  const before = process.memoryUsage().external;
  let most = 0;
  const held = () => process.memoryUsage().external - before;
  const timer = setInterval(() => {
    if (held() <= most) return;
    gc?.();
    most = Math.max(most, held());
  }, 1);
  const result = await work();
  clearInterval(timer);
  return { result, mostHeldMiB: Math.round(most / 1_048_576) };
}

/** How many there are of each. */
const countsOf = (codes: readonly string[]) =>
  Object.fromEntries([...Map.groupBy(codes, String)].map(([code, all]) => [code, all.length]));

/** A hundred calls at a time, of which so many come to this total. */
async function hundredCalls(load: Load, message: (index: number) => object, expected: number) {
  const { raw } = asked({ read: () => load });
  const all = Array.from({ length: 100 }, (_, index) => raw(JSON.stringify(message(index))));
  const totals = (await Promise.all(all)).map(({ json }) => json.result.structuredContent?.total);
  return { answers: { ok: totals.filter((total) => total === expected).length } };
}

/** The same list, as another read would have brought it. */
const copyOf = (load: Load): Load => ({
  ...load,
  snapshot: { ...load.snapshot, bytes: Buffer.from(load.snapshot.bytes) },
});

const RUNS = 3;

/** Milliseconds to parse a body, on average: the system's ticks are coarse. */
function parseMs(body: string): number {
  const bytes = Buffer.from(body);
  const begun = processorMs();
  for (let run = 0; run < 5; run += 1) JSON.parse(bytes.toString());
  return (processorMs() - begun) / 5;
}

/** What it takes to parse 1 MiB of items, how long a turn may be, and the longest of each case, in milliseconds. */
async function turns() {
  const unit = parseMs(listOf(1, false).snapshot.bytes.toString());
  const bound = 6 * unit + 2 * TICK_MS;
  /** Of the first run that keeps the bound, or of the best of a few: what a collection of garbage adds is not meant. */
  async function longestOf(work: () => unknown): Promise<number> {
    let best = Number.POSITIVE_INFINITY;
    for (let run = 0; run < RUNS && best > bound; run += 1) best = Math.min(best, await longestTurn(work));
    return best;
  }
  const load = manyItems();
  const stored = listOf(8, true);
  const { raw } = asked({ read: ({ name }) => (name === 'projects' ? load : stored), maxMessageValues: 10_000 });
  const once = (message: object) => () => raw(JSON.stringify(message));
  const projects = (args: object) => callOf('list_projects', args);
  const longest: Record<string, number> = {};
  const few: Readonly<Record<string, () => Promise<unknown>>> = {
    'a read of 100,000 items': () => asked({ read: () => copyOf(load) }).raw(JSON.stringify(readOf('projects'))),
    'a search of 100,000 items': once(projects({ query: 'e', limit: 500 })),
    'counts of 100,000 items': once(projects({ count_by: ['createTime'] })),
    'counts of 4,000 values': once(projects({ query: '77', count_by: ['id'] })),
    'fifty searches at a time': () => Promise.all(Array.from({ length: 50 }, once(projects({ query: 'z' })))),
  };
  for (const [name, work] of Object.entries(few)) longest[name] = await longestOf(work);
  for (const [index, value] of WIDE.entries()) {
    for (const { place, body, headers } of everywhere(value)) {
      if (place.includes(',')) continue;
      longest[`${place} that is wide (${index})`] = await longestOf(() => raw(body, { headers }));
    }
  }
  return { unit, bound, longest };
}

/** Finds 26 of the items of {@link listOf}. */
const search = (tool: string) => (index: number) => callOf(tool, { query: `kind ${index}.`, limit: 1 });

const CASES: Readonly<Record<string, () => Promise<unknown>>> = {
  turns,
  'searches at a time': () => hundredCalls(listOf(5, true), search(TOOLS), 26),
  'counts at a time': () => {
    const items = Array.from({ length: 240 }, (_, id) => toolItem(`${id}`, { name: `${id} ${'ж'.repeat(2000)}` }));
    return hundredCalls(loadOf(items), () => callOf('list_projects', { count_by: ['name'] }), 240);
  },
  'reads at a time': async () => {
    const list = listOf(8, false);
    const lists = Array.from({ length: 30 }, () => copyOf(list));
    let next = 0;
    const cache = createSnapshotCache({ maxBytes: 65_536, maxEntries: 1 });
    const { raw } = asked({
      representations: createRepresentations(cache, { maxEscapingBytes: 33_554_432 }),
      read: () => lists[next++] ?? listOf(1, false),
    });
    const body = JSON.stringify(readOf('projects'));
    const { result, mostHeldMiB } = await heldBy(() => Promise.all(lists.map(() => raw(body))));
    return { answers: countsOf(result.map(({ record }) => record.error?.code ?? 'ok')), mostHeldMiB };
  },
  'clients with long names': async () => {
    const { raw } = asked();
    const held: number[] = [];
    for (let index = 0; index < 200; index += 1) {
      const clientInfo = { name: `${index}`.padEnd(500_000, 'n'), version: `${index}`.padEnd(500_000, 'v') };
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
      const { record } = await raw(JSON.stringify(rpc('initialize', params)));
      held.push(record.client?.name?.length ?? 0);
    }
    return { answers: { ok: held.filter((length) => length === 64).length } };
  },
};

const [, , name = ''] = process.argv;
process.stdout.write(JSON.stringify(await CASES[name]?.()));
