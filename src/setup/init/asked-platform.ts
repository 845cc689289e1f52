import type { Ask } from '../describe/discover-parameters.ts';
import { parseJson } from '../describe/document-text.ts';
import type { Credential, CredentialGuess } from '../guess/guess-credential.ts';
import { REPLIES } from '../input-bounds.ts';
import { fetchText, SourceError, type TextReply } from './fetch-text.ts';

/** A platform that replies to requests, and the header that takes the token. */
export interface AskedPlatform {
  readonly ask: Ask;
  readonly credential: CredentialGuess;
  /** Summary of the reply of the named address, without its body. */
  readonly firstReply: string;
}

/** Headers for a token, the commonest first. */
const BEARER = { kind: 'passthrough' } as const;
const FORMS: readonly { readonly credential: Credential; readonly name: string }[] = [
  { credential: BEARER, name: 'Authorization: Bearer' },
  { credential: { kind: 'header', name: 'X-Api-Key' }, name: 'X-Api-Key' },
  { credential: { kind: 'header', name: 'Authorization', format: 'Token {token}' }, name: 'Authorization: Token' },
];

type Headers = Readonly<Record<string, string>>;

/**
 * Opens the platform at the origin of `url`; the token goes to that origin only. Requests `url` with the token in one header
 * after the other until it is accepted. Throws {@link SourceError}.
 */
export async function askPlatform(url: URL, token: string): Promise<AskedPlatform> {
  if (!/^[\t\x20-\x7e]*$/.test(token)) throw new SourceError('PORTICO_TOKEN contains characters that a header cannot');
  const begunMs = Date.now();
  let requests = 0;
  const get = async (path: string, query: Headers, headers: Headers) => {
    requests += 1;
    if (requests > REPLIES.requests || Date.now() - begunMs > REPLIES.totalMs) return undefined;
    const target = new URL(path, url.origin);
    for (const [name, value] of Object.entries(query)) target.searchParams.append(name, value);
    const accept = { accept: 'application/json', ...headers };
    return fetchText(target, { headers: accept, maxBytes: REPLIES.bytes, timeoutMs: REPLIES.timeoutMs });
  };
  const { headers, credential, reply } = await findHeader(url, token, (each) => get(url.pathname, {}, each));
  const ask: Ask = async (path, query = {}) => {
    try {
      const reply = await get(path, query, headers);
      return reply && { status: reply.status, headers: new Map(reply.headers), body: parseJson(reply.text) };
    } catch (error) {
      if (error instanceof SourceError) return undefined;
      throw error;
    }
  };
  return { ask, credential, firstReply: summary(reply) };
}

async function findHeader(url: URL, token: string, get: (headers: Headers) => Promise<TextReply | undefined>) {
  const place = `${url.origin}${url.pathname}`;
  if (token === '') {
    const reply = await get({});
    if (isRefused(reply)) throw new SourceError(needsToken(place, reply?.status));
    const doubts = ['which header takes the token: the platform was read without one'];
    return { headers: {}, credential: { credential: BEARER, why: 'the usual header', doubts }, reply };
  }
  for (const { credential, name } of FORMS) {
    const headers = headersOf(credential, token);
    const reply = await get(headers);
    if (isRefused(reply)) continue;
    return {
      headers,
      credential: { credential, why: `the platform accepted the token as ${name}`, doubts: [] },
      reply,
    };
  }
  const tried = FORMS.map(({ name }) => name).join(', as ');
  throw new SourceError(
    `${place} refused the token of PORTICO_TOKEN as ${tried}; for another header, write the settings by hand, with credential: { kind: header, name: … }`,
  );
}

export function isRefused(reply: Pick<TextReply, 'status'> | undefined): boolean {
  return reply?.status === 401 || reply?.status === 403;
}

export function needsToken(place: string, status: number | undefined): string {
  return `${place} requires a credential (${status}): put a token into PORTICO_TOKEN`;
}

function headersOf(credential: Credential, token: string): Headers {
  if (credential.kind === 'passthrough') return { authorization: `Bearer ${token}` };
  return { [credential.name]: (credential.format ?? '{token}').replace('{token}', () => token) };
}

/** Summarizes a reply without its body, which can be long and confidential. */
function summary(reply: TextReply | undefined): string {
  if (reply === undefined) return 'nothing';
  const { status, headers, text } = reply;
  if (text === '') return `${status} and no body`;
  if (parseJson(text) !== undefined) return `${status} and JSON`;
  return `${status} and a body that is not JSON (${headers.get('content-type') ?? 'without a type'})`;
}
