import type { Events } from '../../../core/kernel/events.ts';
import type { Client } from './client.ts';
import { type Answer, type Call, codeOf, createLink, type Link, type LinkOptions, type LostReason } from './link.ts';
import { BadReply } from './replies.ts';

export interface ConnectionOptions extends Omit<LinkOptions, 'onLost' | 'stallMs'> {
  /** Opens one connection; rejects where that cannot be had. */
  readonly open: (onLost: (error: Error) => void) => Promise<Client>;
  /**
   * What is asked at every look after Redis, before anything else over a new connection. Resolves with whether all of it was
   * answered; `unsteady`: it was, and is nothing to go by.
   */
  readonly look: (ask: Connection['ask']) => Promise<boolean | 'unsteady'>;
  readonly events: Events;
  /** @default `Math.random` */
  readonly random?: () => number;
}

/** The connection to Redis, whichever it is at the moment. */
export interface Connection {
  /** Never rejects, and takes no longer than `timeoutMs`; next to nothing while Redis is left alone. */
  ask(call: Call): Promise<Answer>;
  /** Whether Redis is asked now. */
  readonly isUp: boolean;
  /** Begins to connect, in the background. */
  open(): void;
  /** Opens another one: what this one was opened with holds no more. */
  renew(): void;
  /** Closes it at once. */
  close(): void;
}

/** How often Redis is looked after. What others evict is heard then. */
export const LOOK_MS = 250;
/** A connection that says nothing for so many timeouts is dead. */
const STALLED_TIMEOUTS = 5;
/** So many looks that fail one after the other, though other calls may not, are a second in which nothing was heard. */
const FAILED_LOOKS = 3;
/** So many that went well are five seconds: until then pauses go on growing, so that one that comes and goes is not opened all the time. */
const STEADY_LOOKS = 20;
/** Pauses between attempts: each twice as long as the one before, and up to half of it shorter by chance. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 2000;
/** A failure weighs as much as two answers: so Redis is left alone where more than every third call fails. */
const FAILURE_WEIGHT = 2;
const MOST_WEIGHT = 10;

/**
 * Keeps a connection to Redis: opened in the background, and again whenever it is lost. Where calls fail, nobody is asked
 * for a while; then the look alone tells whether Redis is back, so that no read has to try.
 */
export function createConnection(options: ConnectionOptions): Connection {
  const { look, events, random = Math.random } = options;
  const linkOptions = { ...options, stallMs: options.timeoutMs * STALLED_TIMEOUTS };
  let link: Link | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isUp = false;
  let isClosed = false;
  let attempts = 0;
  let weight = 0;
  let failedLooks = 0;
  let goodLooks = 0;
  /** What was told since it was up last, so that a Redis that stays away is told of once for each reason. */
  const told = new Set<LostReason | undefined>();
  /** What Redis or Node last said that was wrong. */
  let said: string | undefined;

  function change(up: boolean, why?: LostReason): void {
    const isTold = up ? isUp : told.has(why);
    isUp = up;
    if (!up) goodLooks = 0;
    if (isTold || isClosed) return;
    if (up) told.clear();
    else told.add(why);
    events.sharedStoreChanged?.({ isUp: up, why, error: why !== undefined && SAID.has(why) ? said : undefined });
  }

  function later(ms: number): void {
    clearTimeout(timer);
    if (!isClosed) timer = setTimeout(() => void next(), ms);
  }

  function pause(): number {
    const longest = Math.min(FIRST_PAUSE_MS * 2 ** attempts, LONGEST_PAUSE_MS);
    attempts += 1;
    return longest * (1 - random() / 2);
  }

  function lost(why: LostReason): void {
    link = undefined;
    change(false, why);
    later(pause());
  }

  async function connect(): Promise<void> {
    let opened: Link | undefined;
    try {
      const client = await options.open((error) => {
        said = wordOf(error);
        opened?.lose(whyLost(error, 'closed'));
      });
      if (isClosed) {
        client.destroy();
        return;
      }
      opened = createLink(client, { ...linkOptions, onLost: lost });
      link = opened;
      weight = 0;
    } catch (error) {
      said = wordOf(error);
      lost(whyLost(error, 'unreachable'));
    }
  }

  /** Opens a connection where there is none; looks after Redis; and says when to do so again. */
  async function next(): Promise<void> {
    if (link === undefined) await connect();
    const looked = link;
    if (looked === undefined) return;
    const found = await look(ask);
    // Whoever lost it has seen to the next one.
    if (looked !== link) return;
    failedLooks = found === true ? 0 : failedLooks + 1;
    if (found === true) {
      goodLooks += 1;
      if (goodLooks === STEADY_LOOKS) attempts = 0;
      weight = 0;
      change(true);
      later(LOOK_MS);
    } else if (found === false && isUp && failedLooks < FAILED_LOOKS) {
      later(LOOK_MS);
    } else {
      change(false, found === false ? 'failing' : found);
      later(pause());
    }
  }

  async function ask(call: Call): Promise<Answer> {
    if (link === undefined) return { said: 'unavailable' };
    const begun = performance.now();
    const answer = await link.ask(call);
    events.sharedStoreAsked?.({ what: call.script.name, outcome: answer.said, ms: performance.now() - begun });
    weigh(answer);
    return answer;
  }

  function weigh(answer: Answer): void {
    if (answer.said !== 'timeout' && answer.said !== 'failed') {
      if (answer.said !== 'unavailable') weight = Math.max(weight - 1, 0);
      return;
    }
    said = 'code' in answer ? answer.code : undefined;
    if ('code' in answer && isCredential(answer.code)) {
      link?.lose('credential');
      return;
    }
    weight += FAILURE_WEIGHT;
    if (weight < MOST_WEIGHT || !isUp) return;
    change(false, 'failing');
    later(pause());
  }

  return {
    get isUp() {
      return isUp;
    },
    ask: (call) => (isUp ? ask(call) : Promise.resolve({ said: 'unavailable' })),
    open: () => void next(),
    renew: () => link?.lose('renewed'),
    close() {
      isClosed = true;
      clearTimeout(timer);
      link?.lose('closed');
      link = undefined;
    },
  };
}

/** Reasons for which Redis or Node has a word. */
const SAID: ReadonlySet<LostReason> = new Set(['unreachable', 'tls', 'credential', 'failing']);

/** A word for an error, which quotes nothing: Node's code for it, or what an error of Redis begins with. */
function wordOf(error: unknown): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined) return /^[A-Z][A-Z0-9_/]{1,63}$/.exec(code)?.[0];
  const word = codeOf(error);
  return word === 'closed' ? undefined : word;
}

/** By the error with which it ended; what of none of these kinds is, is `other`. */
function whyLost(error: unknown, other: LostReason): LostReason {
  if (isCredential(codeOf(error))) return 'credential';
  if (isOutOfStep(error)) return 'out_of_step';
  return TLS_CODES.test(`${(error as NodeJS.ErrnoException).code}`) ? 'tls' : other;
}

/** What Node says of certificates, and of a handshake that failed. */
const TLS_CODES = /^(EPROTO$|CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA$)/;

/** What came is no reply, or longer than any that is asked for; or nobody waited for it, which the client says in no other words. */
function isOutOfStep(error: unknown): boolean {
  return error instanceof BadReply || (error instanceof TypeError && !('code' in error));
}

/** Redis does not know us, or does not let us. */
function isCredential(code: string | undefined): boolean {
  return code === 'NOAUTH' || code === 'WRONGPASS' || code === 'NOPERM';
}
