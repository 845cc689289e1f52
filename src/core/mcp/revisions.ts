import { PROTOCOL_VERSION_META_KEY, SUPPORTED_PROTOCOL_VERSIONS, specTypeSchemas } from '@modelcontextprotocol/server';
import { explained, GatewayError } from '../kernel/errors.ts';

/**
 * Since 2026-07-28 each request has an envelope in `params._meta` with its revision. Before, `initialize` agrees on a revision;
 * those are answered equally.
 */
export type Revision = '2026-07-28' | '2025-11-25';

/** The supported revision with envelopes. */
export const CURRENT = '2026-07-28' satisfies Revision;

/** Represents all revisions before {@link CURRENT}. */
export const EARLIER = '2025-11-25' satisfies Revision;

/** `params._meta` of a message; an empty object without one. */
export function metaOf(message: unknown): Readonly<Record<string, unknown>> {
  return Object(Object(Object(message).params)._meta);
}

/** Returns the revision in a message's envelope; `undefined` without one. */
export function claimOf(message: unknown): unknown {
  return metaOf(message)[PROTOCOL_VERSION_META_KEY];
}

export function versionUnsupported(): GatewayError {
  const detail = `This revision is not supported. Supported are: ${[CURRENT, ...SUPPORTED_PROTOCOL_VERSIONS].join(', ')}.`;
  return new GatewayError('version_unsupported', { detail });
}

/** Levels of a value that are passed to a schema of the SDK, which is recursive: more would exhaust the stack. */
const MAX_LEVELS = 100;

function isShallow(value: unknown, levels = MAX_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((one) => isShallow(one, levels - 1));
}

/** Throws `invalid_params` with the first member of `value` that a type of the protocol does not allow. */
export function assertType(
  type: 'InitializeRequestParams' | 'SubscriptionFilter',
  value: unknown,
  place: string,
): void {
  if (!isShallow(value)) throw explained('invalid_params', `${place}: Nests deeper than ${MAX_LEVELS} levels.`);
  const { issues } = specTypeSchemas[type]['~standard'].validate(value);
  const [issue] = issues ?? [];
  if (issue === undefined) return;
  const member = [place, ...(issue.path ?? [])].join('.').slice(0, MAX_LEVELS);
  throw explained('invalid_params', `${member}: Is missing, or of another type.`);
}
