import { readFile } from 'node:fs/promises';

const ELSE = 'the rest of Node, and the system';
const GARBAGE = 'collecting garbage';

/** Which part of a read a frame belongs to, by where its code is. The first that fits counts. */
const FRAMES: readonly (readonly [part: string, where: RegExp])[] = [
  ['the access log', /node_modules\/(pino|sonic-boom|quick-format|fast-redact|safe-stable)|src\/observability/],
  ['who asks: credential, key', /src\/(credentials|kernel\/caller)/],
  [
    'looking up, sharing and storing snapshots',
    /src\/(catalogue\/catalogue|snapshots\/(?!snapshot-writer|unpooled))|lru-cache/,
  ],
  [
    'asking the platform: undici, deadline, breaker, pages',
    /node_modules\/(undici|opossum)|src\/(upstream|kernel\/deadline|catalogue)/,
  ],
  ['parsing the page', /src\/mapping\/page/],
  ['mapping its items', /src\/mapping/],
  ['writing the snapshot, hashing it', /src\/snapshots/],
  ["Portico's edge: checks, headers, sending the answer", /src\//],
  ['Koa, its router, negotiation', /node_modules\//],
  ['`node:http`: parsing requests, writing answers', /^node:_http/],
];

/** Parts of a read, by name. Together they are all of the time in which the process did something. */
export const PARTS: readonly string[] = [...FRAMES.map(([part]) => part), GARBAGE, ELSE];

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/**
 * Shares of the parts in a profile that `node --cpu-prof` wrote. Each sample is given to the innermost part that it
 * stands in. The first half of the time is left out: start, and code that is not compiled yet.
 */
export async function readProfile(file: string): Promise<ReadonlyMap<string, number>> {
  const { nodes, samples, timeDeltas }: CpuProfile = JSON.parse(await readFile(file, 'utf8'));
  const parts = partsOf(nodes);
  const half = timeDeltas.reduce((total, delta) => total + delta, 0) / 2;
  const times = new Map<string, number>();
  let [passed, busy] = [0, 0];
  for (const [index, node] of samples.entries()) {
    const delta = timeDeltas[index] ?? 0;
    passed += delta;
    const part = parts.get(node);
    if (passed < half || part === undefined) continue;
    busy += delta;
    times.set(part, (times.get(part) ?? 0) + delta);
  }
  return new Map([...times].map(([part, time]) => [part, time / busy]));
}

/** The part that each node of the call tree stands in; none for those in which nothing was done. */
function partsOf(nodes: readonly ProfileNode[]): ReadonlyMap<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parts = new Map<number, string>();
  const [root] = nodes;
  if (root === undefined) return parts;
  const left: (readonly [ProfileNode, string])[] = [[root, ELSE]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [node, around] = next;
    const { functionName, url } = node.callFrame;
    if (functionName === '(idle)') continue;
    const own = functionName === '(garbage collector)' ? GARBAGE : FRAMES.find(([, where]) => where.test(url))?.[0];
    const part = own ?? around;
    parts.set(node.id, part);
    for (const id of node.children ?? []) {
      const child = byId.get(id);
      if (child !== undefined) left.push([child, part]);
    }
  }
  return parts;
}
