import { GatewayError } from '../../kernel/errors.ts';
import type { Exchange } from '../exchange.ts';

const DETAIL = 'Too many request bodies are waiting already. Try again after Retry-After.';

/** Bytes of request bodies that are held, over all connections of one listener. */
export interface HeldBytes {
  /** Adds to what an exchange holds until it ends. Throws `overloaded` where there is no room for more. */
  take(exchange: Pick<Exchange, 'heldBytes' | 'release'>, bytes: number): void;
}

/**
 * What has arrived counts, and not what a request announces: else whoever announces much and sends nothing would keep
 * everybody else out.
 */
export function createHeldBytes(maxBytes: number): HeldBytes {
  let total = 0;
  return {
    take(exchange, bytes) {
      if (total + Math.max(bytes, 1) > maxBytes) {
        const bound = 'http.maxHeldBodyBytes';
        throw new GatewayError('overloaded', { detail: DETAIL, reason: `${bound} is reached`, bound });
      }
      exchange.heldBytes += bytes;
      total += bytes;
      exchange.release ??= () => {
        total -= exchange.heldBytes;
      };
    },
  };
}
