import { boundedSettings } from '../process/limits-of-process.ts';
import { runPortico, writeSettings } from '../process/process.ts';
import { createCallers } from './callers.ts';
import { createFillers, fillTables } from './fill-tables.ts';
import { startFlappingPlatform } from './flapping-platform.ts';
import { insideEnvironment } from './look-inside.ts';
import { loadSettings } from './scene-settings.ts';

export type Scene = Awaited<ReturnType<typeof setScene>>;

/**
 * A Portico process, the flapping platforms behind it, and the callers to come. `folder` is for the settings, and for a look
 * inside the process.
 */
export async function setScene(folder: string, callerCount: number) {
  const callers = createCallers(callerCount);
  // Each begins with another fault, so that they do not fail alike.
  const people = await startFlappingPlatform(callers, 0);
  const installed = await startFlappingPlatform(callers, 5);
  const platforms = [people, installed];
  const settings = loadSettings({ people: people.url, installed: installed.url });
  const { yaml, env } = boundedSettings(settings, insideEnvironment(folder));
  const portico = runPortico(['--config', await writeSettings(folder, yaml)], env);
  const url = await portico.ready;
  return {
    portico,
    url,
    callers,
    platforms,
    /** When a platform refused the request with this id. */
    refusedAt: (id: string) => platforms.map(({ refusedAt }) => refusedAt.get(id)).find((at) => at !== undefined),
    /**
     * Has what the process remembers of callers take all the memory that it ever will: what grows from then on is none of its
     * tables. Call it while the platforms are calm.
     */
    fill() {
      const fillers = createFillers();
      for (const platform of platforms) platform.know(fillers);
      return fillTables(url, fillers);
    },
    /** Has all platforms flap, or again do what they should. They begin calm. */
    flap(flaps: boolean) {
      for (const platform of platforms) platform.flap(flaps);
    },
    /** How often each fault came about, all platforms together. */
    faults() {
      const sums: Record<string, number> = {};
      for (const { met } of platforms) for (const [kind, count] of met) sums[kind] = (sums[kind] ?? 0) + count;
      return sums;
    },
    /** Ends the platforms, and the process where it is still there. */
    async close() {
      portico.child.kill('SIGKILL');
      await portico.ended;
      await Promise.all(platforms.map((platform) => platform.close()));
    },
  };
}
