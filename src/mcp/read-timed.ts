import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Load } from '../snapshots/load.ts';
import type { Ask } from './ask.ts';

/** Reads one resource for whoever asks, and notes what the log says of it. */
export async function readTimed(
  catalogue: Pick<Catalogue, 'read'>,
  name: string,
  { caller, noCache, note }: Ask,
  signal: AbortSignal,
): Promise<Load> {
  const begun = performance.now();
  note({ resource: name });
  try {
    const load = await catalogue.read(name, caller, signal, { noCache });
    note({ upstreamMs: load.upstreamMs, load });
    return load;
  } catch (error) {
    note({ upstreamMs: performance.now() - begun });
    throw error;
  }
}
