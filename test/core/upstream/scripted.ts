import { isDeadline, withAbort } from '../../../src/core/kernel/deadline.ts';
import { GatewayError, type GatewayErrorFacts } from '../../../src/core/kernel/errors.ts';
import type { Reply, Upstream } from '../../../src/core/upstream/upstream.ts';

/** What comes of a page that is read as its text. */
export const PAGE: Reply<string> = { page: '[]', headers: {} };

/** One request that a scripted upstream was sent; the test says how it ends. */
export interface Request {
  readonly signal: AbortSignal;
  readonly key: string;
  succeed(): void;
  fail(error: unknown): void;
}

/** An upstream without a network, which follows signals as the client does. */
export function createScripted() {
  /** Those not yet ended, oldest first. */
  const open: Request[] = [];
  let count = 0;
  const upstream: Upstream = {
    name: 'projects',
    async get({ caller: { credentialKey: key }, read }, signal) {
      count += 1;
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const request: Request = { signal, key, succeed: () => resolve('[]'), fail: reject };
      open.push(request);
      try {
        return { page: await read(Buffer.from(await withAbort(signal, () => promise)), {}), headers: {} };
      } catch (error) {
        // As the client says it: a deadline that passes here is the upstream's.
        if (isDeadline(signal.reason)) throw timeout();
        throw error;
      } finally {
        open.splice(open.indexOf(request), 1);
      }
    },
    close: async () => {},
  };
  return { open, count: () => count, upstream };
}

const facts = (more: GatewayErrorFacts): GatewayErrorFacts => ({ upstream: 'projects', ...more });

export const timeout = () => new GatewayError('upstream_timeout', facts({ countsForBreaker: true }));
export const status500 = () => new GatewayError('upstream_failed', facts({ countsForBreaker: true }));
export const reset = () => new GatewayError('upstream_failed', facts({ countsForBreaker: true, retryable: 'reset' }));
export const refused = () =>
  new GatewayError('upstream_failed', facts({ countsForBreaker: true, retryable: 'connect' }));
export const status503 = (retryAfterSeconds?: number) =>
  new GatewayError(
    'upstream_failed',
    facts({
      countsForBreaker: true,
      upstreamStatus: 503,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    }),
  );
export const status401 = () => new GatewayError('credential_rejected', facts({}));

/** What says nothing of an upstream's health, but that it responds. */
export const RESPONSES = {
  401: status401(),
  403: new GatewayError('access_denied', facts({})),
  404: new GatewayError('upstream_refused', facts({})),
  429: new GatewayError('upstream_rate_limited', facts({})),
  "a credential of Portico's own that is rejected": new GatewayError('upstream_credential_rejected', facts({})),
  'a body that is no page': new GatewayError('upstream_invalid', facts({})),
};
