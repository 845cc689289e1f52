import { type Deadline, startDeadline, withAbort } from '../kernel/deadline.ts';
import { GatewayError } from '../kernel/errors.ts';

/** The account of one load. */
export interface LoadAccount {
  /**
   * Adds bytes that are held, encoded or decoded; negative for bytes that were released. Throws `overloaded` if this load is
   * shed, and `upstream_invalid` if it alone exceeds the bound of all loads.
   */
  hold(bytes: number): void;
  /** Adds a decoded page. Throws `upstream_invalid` if the read is too large. */
  read(bytes: number): void;
}

/** Bounds what concurrent loads hold together, over all upstreams. */
export interface Loading {
  /**
   * Runs a load under a deadline. Its pages together, decoded, may have `maxReadBytes`, which are released when it settles. Rejects
   * with `overloaded` if it is shed, and with the reason of its signal as soon as that aborts.
   */
  run<T>(
    options: { readonly maxReadBytes: number; readonly timeoutMs: number },
    signal: AbortSignal,
    work: (account: LoadAccount, signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
}

interface Held {
  readonly deadline: Deadline;
  bytes: number;
}

/**
 * Sheds loads when all of them hold more than `maxBytes`: the latest of those with more than an equal share. Thus a small load is never shed
 * for a large one, and the oldest large one completes.
 */
export function createLoading({ maxBytes }: { readonly maxBytes: number }): Loading {
  /** The oldest first. */
  const loads = new Set<Held>();
  let total = 0;

  function end(load: Held): void {
    total -= load.bytes;
    load.bytes = 0;
    loads.delete(load);
  }

  function shedTo(max: number): void {
    while (total > max) {
      const share = max / loads.size;
      const latest = [...loads].findLast(({ bytes }) => bytes > share);
      if (latest === undefined) return;
      end(latest);
      latest.deadline.abort(
        new GatewayError('overloaded', {
          detail: 'Too much is being read from the platforms at once. Try again after Retry-After.',
          reason: 'it was shed for other loads',
          bound: 'maxLoadingBytes',
        }),
      );
    }
  }

  function tooLarge(bound: string): GatewayError {
    return new GatewayError('upstream_invalid', { reason: `the pages of the read are larger than ${bound}`, bound });
  }

  return {
    async run({ maxReadBytes, timeoutMs }, signal, work) {
      const deadline = startDeadline(timeoutMs, signal);
      const load: Held = { deadline, bytes: 0 };
      loads.add(load);
      let readBytes = 0;
      const account: LoadAccount = {
        hold(bytes) {
          if (loads.has(load)) {
            load.bytes += bytes;
            total += bytes;
          }
          if (bytes <= 0) return;
          if (load.bytes > maxBytes) throw tooLarge('maxLoadingBytes');
          shedTo(maxBytes);
          deadline.signal.throwIfAborted();
        },
        read(bytes) {
          readBytes += bytes;
          if (readBytes > maxReadBytes) throw tooLarge('maxReadBytes');
        },
      };
      try {
        return await withAbort(deadline.signal, () => work(account, deadline.signal));
      } finally {
        deadline.end();
        end(load);
      }
    },
  };
}
