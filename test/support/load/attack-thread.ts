import { parentPort } from 'node:worker_threads';
import { type AttackPlatforms, startAttackPlatforms } from './attack-platform.ts';
import { type AllSeen, attack, nothingSeen } from './attacks.ts';

// The platforms and the attackers of a test, in a thread of their own: what they do must not keep those waiting who
// measure how long honest callers wait.

export type AttackUrls = Record<Exclude<keyof AttackPlatforms, 'floodPeak'>, string>;

/** Its messages during the attack. */
export interface AttackProgress {
  readonly seen: AllSeen;
  /** Reads of floods that the platform had under way at most. */
  readonly floodPeak: number;
  /** Whether this is the last. */
  readonly isOver: boolean;
}

const TELL_MS = 500;

const { sound, hostile, floodPeak } = await startAttackPlatforms();
const over = new AbortController();

/** Messages to the thread: the URL to attack, and later the end. */
parentPort?.on('message', async (message: { readonly attack: string } | 'end') => {
  if (message === 'end') return over.abort();
  const seen = nothingSeen();
  const tell = (isOver: boolean) =>
    parentPort?.postMessage({ seen, floodPeak: floodPeak(), isOver } satisfies AttackProgress);
  const telling = setInterval(() => tell(false), TELL_MS);
  await attack(message.attack, seen, over.signal);
  // Portico does not read from connections with enough under way, and cannot see that they were closed: what they wait for
  // has to fail first.
  await hostile.close();
  clearInterval(telling);
  tell(true);
});
parentPort?.postMessage({ sound: sound.url, hostile: hostile.url } satisfies AttackUrls);
