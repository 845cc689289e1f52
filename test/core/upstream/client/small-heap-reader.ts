import { createUpstream } from '../../../../src/core/upstream/client/upstream-client.ts';
import { asking, calm } from '../harness.ts';

/** Reads a page four times at once, in a process of its own with a small heap, and writes the sizes. */
const [, , baseUrl = '', bytes = ''] = process.argv;
const upstream = createUpstream({
  ...{ name: 'projects', baseUrl, headers: {}, connectTimeoutMs: 2000, connections: 4 },
  ...{ maxPageBytes: Number(bytes), usesCallerToken: true, events: {} },
});
const readers = [1, 2, 3, 4].map((reader) => upstream.get(asking('/', { credentialKey: `${reader}` }), calm()));
const sizes = (await Promise.all(readers)).map(({ page }) => page?.length);
process.stdout.write(JSON.stringify(sizes));
await upstream.close();
