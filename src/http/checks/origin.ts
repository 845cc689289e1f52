import { GatewayError } from '../../kernel/errors.ts';
import type { Check } from '../context.ts';

/**
 * Refuses what a web page sends, unless its origin is allowed. Answers never carry CORS headers, so that even an allowed
 * one reads nothing across origins: this is for pages that are served under the same origin by a proxy in front.
 */
export function checkOrigin(allowedOrigins: readonly string[]): Check {
  const allowed = new Set(allowedOrigins.map((origin) => new URL(origin).origin));
  return function origin({ req }) {
    const { origin } = req.headers;
    if (origin !== undefined && !allowed.has(origin)) throw new GatewayError('origin_refused');
  };
}
