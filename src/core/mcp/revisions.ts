import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isSpecType,
  type JSONRPCRequest,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { GatewayError } from '../kernel/errors.ts';
import { isObject } from './json-rpc.ts';
import { fits } from './message.ts';

/**
 * The two ways in which the protocol is spoken. From 2026-07-28 on, each request has an envelope in `params._meta`, which
 * says of what revision it is. Before that, `initialize` agrees on a revision; those are answered alike, but for batches.
 */
export type Revision = '2026-07-28' | '2025-11-25';

/** The one revision with envelopes that is spoken here. */
export const CURRENT = '2026-07-28' satisfies Revision;

/** Stands for all revisions before {@link CURRENT}. */
export const EARLIER = '2025-11-25' satisfies Revision;

/** Whether a revision is one of those with envelopes, spoken here or not. Their names are dates. */
export function hasEnvelopes(version: unknown): version is string {
  return typeof version === 'string' && version >= CURRENT;
}

/** The revision that a message claims to be of in its envelope; `undefined` where it has no such claim. */
export function claimOf(message: unknown): unknown {
  return metaOf(message)[PROTOCOL_VERSION_META_KEY];
}

/**
 * The revision that a request claims to be of; `undefined` where it is of an earlier one, and so for `initialize`, which no
 * revision with envelopes has, unless a sound envelope says otherwise. Throws for an envelope that is not whole.
 */
export function readClaim(request: JSONRPCRequest): string | undefined {
  const claim = claimOf(request);
  if (claim === undefined) return undefined;
  const isSound = typeof claim === 'string' && hasSoundEnvelope(request);
  if (request.method === 'initialize' && !(isSound && hasEnvelopes(claim))) return undefined;
  if (!isSound) throw noEnvelope();
  return claim;
}

export function noEnvelope(): GatewayError {
  const detail = `Revision ${CURRENT} has an envelope in params._meta, with protocolVersion and clientCapabilities.`;
  return new GatewayError('invalid_params', { detail });
}

export function versionUnsupported(): GatewayError {
  const detail = `This revision is not spoken here. There are: ${[CURRENT, ...SUPPORTED_PROTOCOL_VERSIONS].join(', ')}.`;
  return new GatewayError('version_unsupported', { detail });
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

/*
 * What nearly all clients say of themselves, in each message once more. The guards of the SDK find all of it sound, too, but
 * take much longer; what is not found here is for them to say. A test holds it so.
 */

const USUAL_INFO = new Set(['name', 'title', 'version', 'description', 'websiteUrl']);

/** A name and a version, and nothing but text. */
function isUsualInfo(info: unknown): boolean {
  if (!isObject(info) || info['name'] === undefined || info['version'] === undefined) return false;
  for (const name in info) if (!USUAL_INFO.has(name) || typeof info[name] !== 'string') return false;
  return true;
}

/** Names of capabilities, and no more of any, but of `roots` what it does and does not. */
function areUsualCapabilities(capabilities: unknown): boolean {
  if (!isObject(capabilities)) return false;
  for (const name in capabilities) {
    const capability = capabilities[name];
    if (!isObject(capability)) return false;
    for (const detail in capability) {
      if (name !== 'roots' || typeof capability[detail] !== 'boolean') return false;
    }
  }
  return true;
}

function metaOf(message: unknown): Readonly<Record<string, unknown>> {
  return Object(Object(Object(message).params)._meta);
}
