import type { Events } from '../../core/kernel/events.ts';

/** Something that changed, told in a few words of ours. */
export interface Change {
  /** When it was told last. ISO 8601. */
  readonly at: string;
  /** When it was told first. ISO 8601. */
  readonly since: string;
  /** Name of an event of the seam. */
  readonly event: string;
  /** Whether somebody should look. */
  readonly isTrouble: boolean;
  readonly text: string;
  /** How often it was told: in a row, or, of what requests bring about, as long as it stands here. */
  readonly times: number;
}

/** What there is to tell of a change. */
export interface News extends Pick<Change, 'isTrouble' | 'text'> {
  readonly event: keyof Events;
  /** What has changed, of what is in trouble or is not: more of the same trouble is the same change. */
  readonly about?: string;
}

/** The last changes, in a list that has a bound. */
export interface RecentChanges {
  note(news: News): void;
  /** The newest first. */
  list(): Change[];
}

const MAX = 50;

/** What callers and platforms can have happen again and again. */
const REPEATED: ReadonlySet<string> = new Set<keyof Events>(['boundReached', 'mappingDoubted', 'unsolicitedResponse']);

/** `time`: now, in ISO 8601. */
export function createRecentChanges(time: () => string): RecentChanges {
  const changes: (Change & Pick<News, 'about'>)[] = [];

  /** Where the same stands already; -1 where it does not. What happens again and again pushes nothing else out. */
  function findSame({ event, text, isTrouble, about }: News): number {
    if (REPEATED.has(event)) return changes.findIndex((one) => one.event === event && one.text === text);
    const last = about === undefined ? 0 : changes.findIndex((one) => one.event === event && one.about === about);
    const found = changes[last];
    const isSame = about === undefined ? found?.event === event && found.text === text : found?.isTrouble === isTrouble;
    return isSame ? last : -1;
  }

  return {
    note(news) {
      const at = time();
      const index = findSame(news);
      const [before] = index === -1 ? [] : changes.splice(index, 1);
      changes.unshift({ ...news, at, since: before?.since ?? at, times: (before?.times ?? 0) + 1 });
      changes.length = Math.min(changes.length, MAX);
    },
    list: () => changes.map(({ about: _about, ...change }) => change),
  };
}
