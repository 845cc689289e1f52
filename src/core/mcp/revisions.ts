import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isSpecType,
  type JSONRPCRequest,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { explained, GatewayError } from '../kernel/errors.ts';
import { isObject } from '../kernel/json-shape.ts';
import { fits } from './message.ts';

/**
 * Since 2026-07-28 each request has an envelope in `params._meta` with its revision. Before, `initialize` agrees on a revision;
 * those are answered equally.
 */
export type Revision = '2026-07-28' | '2025-11-25';

/** The supported revision with envelopes. */
export const CURRENT = '2026-07-28' satisfies Revision;

/** Represents all revisions before {@link CURRENT}. */
export const EARLIER = '2025-11-25' satisfies Revision;

/** Whether a revision has envelopes, supported or not. Revisions are dates. */
export function hasEnvelopes(version: unknown): version is string {
  return typeof version === 'string' && version >= CURRENT;
}

/** Returns the revision in a message's envelope; `undefined` without one. */
export function claimOf(message: unknown): unknown {
  return metaOf(message)[PROTOCOL_VERSION_META_KEY];
}

/** `undefined` for earlier revisions, and for `initialize` unless its envelope is valid. Throws for an incomplete envelope. */
export function readClaim(request: JSONRPCRequest): string | undefined {
  const claim = claimOf(request);
  if (claim === undefined) return undefined;
  const isSound = typeof claim === 'string' && hasSoundEnvelope(request);
  if (request.method === 'initialize' && !(isSound && hasEnvelopes(claim))) return undefined;
  if (!isSound) throw noEnvelope();
  return claim;
}

export function noEnvelope(): GatewayError {
  const detail = `Revision ${CURRENT} requires protocolVersion and clientCapabilities in params._meta.`;
  return explained('invalid_params', detail);
}

export function versionUnsupported(): GatewayError {
  const detail = `This revision is not supported. Supported are: ${[CURRENT, ...SUPPORTED_PROTOCOL_VERSIONS].join(', ')}.`;
  return new GatewayError('version_unsupported', { detail });
}

/** The first request of a connection other than `server/discover` decides for all that follow; others throw. */
export function createAgreement(): (request: JSONRPCRequest) => Revision {
  let agreed: Revision | undefined;
  return (request) => {
    if (agreed === EARLIER) return agreed;
    const { method } = request;
    const claim = readClaim(request);
    if (claim === undefined) {
      if (agreed === CURRENT) throw method === 'initialize' ? versionUnsupported() : noEnvelope();
      agreed = EARLIER;
      return agreed;
    }
    if (claim !== CURRENT) throw versionUnsupported();
    if (method !== 'server/discover') agreed = CURRENT;
    return CURRENT;
  };
}

function hasSoundEnvelope(request: JSONRPCRequest): boolean {
  const meta = metaOf(request);
  const info = meta[CLIENT_INFO_META_KEY];
  const level = meta[LOG_LEVEL_META_KEY];
  const capabilities = meta[CLIENT_CAPABILITIES_META_KEY];
  return (
    (areUsualCapabilities(capabilities) || fits(isSpecType.ClientCapabilities, capabilities)) &&
    (info === undefined || isUsualInfo(info) || fits(isSpecType.Implementation, info)) &&
    (level === undefined || fits(isSpecType.LoggingLevel, level))
  );
}

/* For what nearly all clients send, since the schemas of the SDK take a twentieth of a cached read. A test compares both. */

const USUAL_CAPABILITIES = new Set(['elicitation', 'experimental', 'extensions', 'roots', 'sampling']);

function areUsualCapabilities(value: unknown): boolean {
  if (!isObject(value)) return false;
  for (const name in value) if (!USUAL_CAPABILITIES.has(name) || !isEmpty(value[name])) return false;
  return true;
}

function isEmpty(value: unknown): boolean {
  if (!isObject(value)) return false;
  for (const _ in value) return false;
  return true;
}

/** Of texts only: `name`, `version`, and perhaps `title`. */
function isUsualInfo(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { name, version } = value;
  if (typeof name !== 'string' || typeof version !== 'string') return false;
  for (const member in value) {
    if (member !== 'name' && member !== 'version' && (member !== 'title' || typeof value[member] !== 'string'))
      return false;
  }
  return true;
}

/** `params._meta` of a message; an empty object without one. */
export function metaOf(message: unknown): Readonly<Record<string, unknown>> {
  return Object(Object(Object(message).params)._meta);
}
