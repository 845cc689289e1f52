const ABSOLUTE = /^https?:\/\/(?<authority>[^/?]+)(?<rest>.*)$/i;

/** A request target (RFC 9112, section 3.2), taken apart without any normalizing: paths here are strict. */
export interface Target {
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
  /** Host and port that an absolute-form target names. They replace the Host header. */
  readonly authority: string | undefined;
}

/** `undefined` for what no server but a proxy can answer, and for a fragment, which no target has. */
export function parseTarget(raw: string): Target | undefined {
  if (raw.includes('#')) return undefined;
  if (raw.startsWith('/') || raw === '*') return split(raw, undefined);
  const { authority, rest } = ABSOLUTE.exec(raw)?.groups ?? {};
  if (authority === undefined || rest === undefined) return undefined;
  return split(rest.startsWith('/') ? rest : `/${rest}`, authority);
}

function split(url: string, authority: string | undefined): Target {
  const mark = url.indexOf('?');
  return mark === -1
    ? { path: url, query: '', authority }
    : { path: url.slice(0, mark), query: url.slice(mark + 1), authority };
}
