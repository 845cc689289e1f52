import { withAbort } from '../kernel/deadline.ts';
import { GatewayError } from '../kernel/errors.ts';

export interface LoadingOptions {
  /** Bytes of pages that all loads under way may hold together. */
  readonly maxBytes: number;
}

/** How much one load may read. */
export interface LoadOptions {
  /** Bytes of all pages together, decoded. */
  readonly maxReadBytes: number;
}

/** What one load that is under way holds. */
export interface LoadAccount {
  /**
   * Takes account of bytes that came, before they are decoded or after; fewer than 0 where some were let go of. Throws
   * `overloaded` where this load has to give way to others, and `upstream_invalid` where no others are in its way.
   */
  hold(bytes: number): void;
  /** Takes account of a page, decoded. Throws `upstream_invalid` where the read is larger than it may be. */
  read(bytes: number): void;
}

/** What all loads under way hold together, over all upstreams. */
export interface Loading {
  /** Runs a load. What it holds counts until it has settled. Rejects with `overloaded` when it has to give way to others. */
  run<T>(
    options: LoadOptions,
    signal: AbortSignal,
    work: (account: LoadAccount, signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
}

interface Held {
  readonly controller: AbortController;
  bytes: number;
}

const DETAIL = 'Too much is being read from the platforms at once. Try again after Retry-After.';

/**
 * Bounds what all loads under way hold. Where they want more, the one gives way that began last among those that hold more
 * than an equal share: so one that holds less is never refused for the sake of a larger one, and of those that hold more the
 * oldest comes to its end.
 */
export function createLoading({ maxBytes }: LoadingOptions): Loading {
  /** The oldest first. */
  const loads = new Set<Held>();
  let total = 0;

  function end(load: Held): void {
    total -= load.bytes;
    load.bytes = 0;
    loads.delete(load);
  }

  function giveWay(load: Held): void {
    end(load);
    const reason = 'it gave way to other loads';
    load.controller.abort(new GatewayError('overloaded', { detail: DETAIL, reason, bound: 'maxLoadingBytes' }));
  }

  function makeRoom(): void {
    while (total > maxBytes) {
      const share = maxBytes / loads.size;
      const latest = [...loads].findLast(({ bytes }) => bytes > share);
      if (latest === undefined) return;
      giveWay(latest);
    }
  }

  function tooLarge(bound: string): GatewayError {
    return new GatewayError('upstream_invalid', { reason: `the pages of the read are larger than ${bound}`, bound });
  }

  return {
    async run(options, signal, work) {
      const controller = new AbortController();
      const load: Held = { controller, bytes: 0 };
      const forward = () => controller.abort(signal.reason);
      signal.throwIfAborted();
      signal.addEventListener('abort', forward, { once: true });
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
          makeRoom();
          controller.signal.throwIfAborted();
        },
        read(bytes) {
          readBytes += bytes;
          if (readBytes > options.maxReadBytes) throw tooLarge('maxReadBytes');
        },
      };
      try {
        return await withAbort(controller.signal, () => work(account, controller.signal));
      } finally {
        signal.removeEventListener('abort', forward);
        end(load);
      }
    },
  };
}
