import { randomUUID } from 'node:crypto';
import { scrubCredential } from '../../credentials/mention.ts';
import type { Caller } from '../../kernel/caller.ts';
import { causesOf } from '../../observability/causes.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Ask, Facts } from '../ask.ts';
import { methodWord } from '../methods.ts';

/** One request on a connection, until it is answered. */
export interface OpenRequest {
  readonly ask: Ask;
  /** Logs what came of it: `outcome`, or else what was noted of it. */
  end(outcome?: string): void;
}

/** Who asks, on the whole of a connection. */
export type StdioCaller = Omit<Caller, 'requestId'>;

/** Gives a message an id of its own for errors and logs, as each has over HTTP, and a line in the log. */
export function openRequest(message: unknown, from: StdioCaller, logger: Logger): OpenRequest {
  const begun = performance.now();
  const requestId = randomUUID();
  const caller = { ...from, requestId };
  let facts: Facts = {};

  function logBug(error: unknown): void {
    const stack = error instanceof Error ? error.stack : undefined;
    const text = scrubCredential(stack ?? `thrown: ${typeof error}`, caller.credential);
    logger.error({ requestId, stack: text }, 'internal error');
  }

  return {
    ask: {
      caller,
      noCache: false,
      logBug,
      note(more) {
        facts = { ...facts, ...more };
      },
    },
    end(outcome) {
      const { resource, upstreamMs, failure } = facts;
      const line = {
        rpc: methodWord(message),
        resource,
        outcome: outcome ?? failure?.code ?? 'ok',
        ms: rounded(performance.now() - begun),
        upstreamMs: upstreamMs === undefined ? undefined : rounded(upstreamMs),
        requestId,
        upstream: failure?.upstream,
        reason: failure?.reason,
        causes: failure?.cause === undefined ? undefined : causesOf(failure),
      };
      logger.info(line, 'request');
    },
  };
}

/** To a tenth of a millisecond. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
