import { GatewayError } from '../kernel/errors.ts';

const ABSOLUTE = /^https?:\/\/(?<authority>[^/?]+)(?<rest>.*)$/i;

/** A request target (RFC 9112, section 3.2), taken apart without any normalizing: paths here are strict. */
export interface Target {
  /** Path and query, in origin form. */
  readonly url: string;
  /** Host and port that an absolute-form target names. They replace the Host header. */
  readonly authority?: string;
}

/** Throws `invalid_request` for what no server but a proxy can answer, and for a fragment, which no target has. */
export function parseTarget(raw: string): Target {
  if (raw.includes('#')) throw invalidTarget();
  if (raw.startsWith('/') || raw === '*') return { url: raw };
  const { authority, rest } = ABSOLUTE.exec(raw)?.groups ?? {};
  if (authority === undefined || rest === undefined) throw invalidTarget();
  return { authority, url: rest.startsWith('/') ? rest : `/${rest}` };
}

/** The query of an origin-form target, without its question mark. */
export function queryOf(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? '' : url.slice(mark + 1);
}

function invalidTarget(): GatewayError {
  return new GatewayError('invalid_request', { detail: 'The request target is neither a path nor an http URL.' });
}
