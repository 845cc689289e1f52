import { GatewayError } from '../kernel/errors.ts';

/** The account of one load. */
export interface LoadAccount {
  /** Negative for released bytes. Throws `overloaded` beyond the bound of all loads, `upstream_invalid` if this load alone is. */
  hold(bytes: number): void;
  /** Throws `upstream_invalid` if the read is too large. */
  read(bytes: number): void;
  /** Releases what it holds. Later bytes are not counted. */
  end(): void;
}

/** Bounds what concurrent loads hold together, over all upstreams. */
export type Loading = ReturnType<typeof createLoading>;

/**
 * Beyond the bound, a load that grows and has more than an equal share is refused. So a small load is never refused for large
 * ones, and together they hold less than twice the bound.
 */
export function createLoading({ maxBytes }: { readonly maxBytes: number }) {
  let total = 0;
  let loads = 0;

  return {
    open({ maxReadBytes }: { readonly maxReadBytes: number }): LoadAccount {
      let isOpen = true;
      let heldBytes = 0;
      let readBytes = 0;
      loads += 1;
      return {
        hold(bytes) {
          if (!isOpen) return;
          heldBytes += bytes;
          total += bytes;
          if (bytes <= 0) return;
          if (heldBytes > maxBytes) throw tooLarge('maxLoadingBytes');
          if (total > maxBytes && heldBytes > maxBytes / loads) throw tooManyLoads();
        },
        read(bytes) {
          readBytes += bytes;
          if (readBytes > maxReadBytes) throw tooLarge('maxReadBytes');
        },
        end() {
          if (!isOpen) return;
          isOpen = false;
          loads -= 1;
          total -= heldBytes;
        },
      };
    },
  };
}

function tooLarge(bound: string): GatewayError {
  return new GatewayError('upstream_invalid', { reason: `the pages of the read are larger than ${bound}`, bound });
}

function tooManyLoads(): GatewayError {
  return new GatewayError('overloaded', {
    detail: 'Too many lists are being read at once. Try again after Retry-After.',
    bound: 'maxLoadingBytes',
  });
}
