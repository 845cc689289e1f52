import { GatewayError } from '../kernel/errors.ts';

/* Tests compare these names, and what is answered, with the SDK. It is not loaded: that takes 75 ms and 5 MB. */

/**
 * Since 2026-07-28 each request has an envelope in `params._meta` with its revision. Before, `initialize` agrees on a revision;
 * those are answered equally.
 */
export type Revision = '2026-07-28' | '2025-11-25';

/** The supported revision with envelopes. */
export const CURRENT = '2026-07-28' satisfies Revision;

/** Represents all revisions before {@link CURRENT}. */
export const EARLIER = '2025-11-25' satisfies Revision;

/** All supported revisions before {@link CURRENT}, the latest first. */
export const EARLIER_REVISIONS: readonly unknown[] = [EARLIER, '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];

/** Names of members of `_meta` (2026-07-28, basic). */
export const META = {
  revision: 'io.modelcontextprotocol/protocolVersion',
  client: 'io.modelcontextprotocol/clientInfo',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  server: 'io.modelcontextprotocol/serverInfo',
  subscription: 'io.modelcontextprotocol/subscriptionId',
} as const;

/** `params._meta` of a message; an empty object without one. */
export function metaOf(message: unknown): Readonly<Record<string, unknown>> {
  return Object(Object(Object(message).params)._meta);
}

/** Returns the revision in a message's envelope; `undefined` without one. */
export function claimOf(message: unknown): unknown {
  return metaOf(message)[META.revision];
}

export function versionUnsupported(): GatewayError {
  const detail = `This revision is not supported. Supported are: ${[CURRENT, ...EARLIER_REVISIONS].join(', ')}.`;
  return new GatewayError('version_unsupported', { detail });
}
