import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Pinned, pin } from './process.ts';

/** How long the measuring takes. */
export interface Pace {
  /** Turns of each contender. */
  readonly rounds: number;
  /** Length of one turn. */
  readonly seconds: number;
  /** How often new processes are started, each for that many rounds. */
  readonly processes: number;
}

/** Where one scenario works. Nothing of it is left once it is closed. */
export interface Workshop {
  readonly pace: Pace;
  /** A temporary folder. */
  readonly folder: string;
  /** As `pin` does. What still runs in the end is stopped. Throws once the workshop is closed. */
  run(...args: Parameters<typeof pin>): Pinned;
}

const open = new Set<() => Promise<void>>();

/** Gives `work` a workshop, and always clears it up. */
export async function inWorkshop<T>(pace: Pace, work: (workshop: Workshop) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-bench-'));
  const running = new Set<Pinned>();
  let closed = false;
  const close = async () => {
    closed = true;
    open.delete(close);
    await Promise.all([...running].map((pinned) => pinned.stop()));
    await rm(folder, { recursive: true, force: true });
  };
  open.add(close);
  try {
    return await work({
      pace,
      folder,
      run(...args) {
        if (closed) throw new Error('the bench was interrupted');
        const pinned = pin(...args);
        running.add(pinned);
        void pinned.ended.then(() => running.delete(pinned));
        return pinned;
      },
    });
  } finally {
    await close();
  }
}

/** Clears up all workshops at once, for when the bench is interrupted. */
export async function closeWorkshops(): Promise<void> {
  await Promise.all([...open].map((close) => close()));
}
