import type { ChildProcess } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from '../eventually.ts';

export type HeapStrings = Awaited<ReturnType<typeof observeHeap>>;

/** Takes the strings in the heap of a process that was started with `nodeOptions`. Snapshots are written into this folder. */
export async function observeHeap(folder: string) {
  const module = join(folder, 'snapshot.mjs');
  const source = `import v8 from 'node:v8';
    let count = 0;
    process.on('SIGUSR2', () => v8.writeHeapSnapshot(${JSON.stringify(folder)} + '/' + ++count + '.heapsnapshot'));`;
  await writeFile(module, source);
  const written = async () => (await readdir(folder)).filter((name) => name.endsWith('.heapsnapshot'));
  const { NODE_OPTIONS = '' } = process.env;
  return {
    nodeOptions: `${NODE_OPTIONS} --import ${pathToFileURL(module).href}`,
    /** A snapshot of its heap, taken now, as text. */
    async take(child: ChildProcess): Promise<string> {
      const before = (await written()).length;
      child.kill('SIGUSR2');
      return eventually(async () => {
        const names = await written();
        if (names.length === before) return undefined;
        const text = await readFile(join(folder, `${names.length}.heapsnapshot`), 'latin1');
        return text.trimEnd().endsWith('}') && text;
      }, 60_000);
    },
  };
}
