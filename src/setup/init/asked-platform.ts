import { parseJson } from '../describe/openapi-document.ts';
import type { Ask } from '../describe/platform-replies.ts';
import type { Credential, CredentialGuess } from '../guess/guess-credential.ts';
import { REPLIES } from '../input-bounds.ts';
import { fetchText, SourceError, type TextReply } from './fetch-text.ts';

type Headers = Readonly<Record<string, string>>;

const PASSTHROUGH = { kind: 'passthrough' } as const;

/** Forms of a credential, the commonest first: the name of a header, and what precedes the token in it. */
const FORMS: readonly (readonly [header: string, word: string, credential: Credential])[] = [
  ['Authorization', 'Bearer', PASSTHROUGH],
  ['X-Api-Key', '', { kind: 'header', name: 'X-Api-Key' }],
  ['Authorization', 'Token', { kind: 'header', name: 'Authorization', format: 'Token {token}' }],
];

/** Requests `url` with the token in one header after the other until it is accepted. It goes to that origin only. */
export async function askPlatform(url: URL, token: string) {
  const get = (target: URL, headers: Headers) => fetchText(target, REPLIES, { accept: 'application/json', ...headers });
  const { headers, credential } = await findHeader(url, token, get);
  const endMs = Date.now() + REPLIES.totalMs;
  let requests = 1;
  const ask: Ask = async (path, query = {}) => {
    requests += 1;
    if (requests > REPLIES.requests || Date.now() > endMs) return undefined;
    const target = new URL(path, url.origin);
    for (const [name, value] of Object.entries(query)) target.searchParams.append(name, value);
    try {
      const { status, headers: received, text } = await get(target, headers);
      return { status, headers: new Map(received), body: parseJson(text) };
    } catch (error) {
      if (error instanceof SourceError) return undefined;
      throw error;
    }
  };
  return { ask, credential };
}

async function findHeader(url: URL, token: string, get: (target: URL, headers: Headers) => Promise<TextReply>) {
  const place = `${url.origin}${url.pathname}`;
  const target = new URL(place);
  if (token === '') {
    const reply = await get(target, {});
    if (isRefused(reply)) throw needsToken(place, reply);
    const doubts = ['which header takes the token: the platform was read without one'];
    const credential: CredentialGuess = { credential: PASSTHROUGH, why: 'the usual header', doubts };
    return { headers: {}, credential };
  }
  const tried: string[] = [];
  for (const [header, word, credential] of FORMS) {
    const name = word === '' ? header : `${header}: ${word}`;
    const headers = { [header]: `${word} ${token}`.trim() };
    const reply = await get(target, headers);
    const why = `the platform accepted the token as ${name}`;
    if (!isRefused(reply)) return { headers, credential: { credential, why, doubts: [] } };
    tried.push(name);
  }
  throw new SourceError(
    `${place} refused the token of PORTICO_TOKEN as ${tried.join(', as ')}; for another header, write the settings by hand, with credential: { kind: header, name: … }`,
  );
}

export function isRefused({ status }: TextReply): boolean {
  return status === 401 || status === 403;
}

export function needsToken(place: string, { status }: TextReply): SourceError {
  return new SourceError(`${place} requires a credential (${status}): put a token into PORTICO_TOKEN`);
}
