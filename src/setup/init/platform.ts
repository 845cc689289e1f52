import { parseJson } from '../description/parse.ts';
import type { Ask, Reply } from '../description/reply.ts';
import type { Credential, CredentialProposal } from '../guesses/credential.ts';
import { getRemote, type RemoteReply, SourceError } from './remote.ts';

/** A platform that can be asked, and how it takes the token. */
export interface Platform {
  readonly ask: Ask;
  readonly credential: CredentialProposal;
  /** What the address that was named answers with, in words that follow "answers with". */
  readonly said: string;
}

/** Where platforms look for a token, the commonest first. */
const FORMS: readonly { readonly credential: Credential; readonly told: string }[] = [
  { credential: { kind: 'passthrough' }, told: 'Authorization: Bearer' },
  { credential: { kind: 'header', name: 'X-Api-Key' }, told: 'X-Api-Key' },
  { credential: { kind: 'header', name: 'Authorization', format: 'Token {token}' }, told: 'Authorization: Token' },
];

const MAX_REPLY_BYTES = 4_194_304;
const REPLY_TIMEOUT_MS = 10_000;
/** For one run, so that a platform is neither stormed nor waited for. */
const MAX_REQUESTS = 200;
const TIMEOUT_MS = 90_000;

/**
 * Opens the platform at the origin of `url`, which alone is given the token. Finds out in which header it takes one, by
 * asking for that address. Throws {@link SourceError}.
 */
export async function openPlatform(url: URL, token: string): Promise<Platform> {
  if (!/^[\t\x20-\x7e]*$/.test(token)) throw new SourceError('PORTICO_TOKEN holds what no header can');
  const began = Date.now();
  let requests = 0;
  const get = async (path: string, query: Readonly<Record<string, string>>, headers: Record<string, string>) => {
    requests += 1;
    if (requests > MAX_REQUESTS || Date.now() - began > TIMEOUT_MS) return undefined;
    const target = new URL(path, url.origin);
    for (const [name, value] of Object.entries(query)) target.searchParams.append(name, value);
    return getRemote(target, {
      headers: { accept: 'application/json', ...headers },
      maxBytes: MAX_REPLY_BYTES,
      timeoutMs: REPLY_TIMEOUT_MS,
    });
  };
  const { headers, credential, reply } = await findForm(token, (each) => get(url.pathname, {}, each), url);
  const ask: Ask = async (path, query = {}) => {
    const reply = await get(path, query, headers).catch((error) => {
      if (error instanceof SourceError) return undefined;
      throw error;
    });
    return reply && asReply(reply);
  };
  return { ask, credential, said: described(reply) };
}

async function findForm(
  token: string,
  get: (headers: Record<string, string>) => Promise<RemoteReply | undefined>,
  url: URL,
): Promise<{ headers: Record<string, string>; credential: CredentialProposal; reply: RemoteReply | undefined }> {
  const place = `${url.origin}${url.pathname}`;
  if (token === '') {
    const reply = await get({});
    if (reply?.status === 401 || reply?.status === 403) {
      throw new SourceError(`${place} asks for a credential (${reply.status}): put a token into PORTICO_TOKEN`);
    }
    const doubts = ['which header takes the token: it was asked without one'];
    return { headers: {}, credential: { credential: { kind: 'passthrough' }, why: 'the usual one', doubts }, reply };
  }
  for (const { credential, told } of FORMS) {
    const headers = headersOf(credential, token);
    const reply = await get(headers);
    if (reply?.status === 401 || reply?.status === 403) continue;
    return { headers, credential: { credential, why: `the platform took the token as ${told}`, doubts: [] }, reply };
  }
  throw new SourceError(
    `${place} refused the token of PORTICO_TOKEN as ${FORMS.map(({ told }) => told).join(', as ')}; for another header, write the settings by hand, with credential: { kind: header, name: … }`,
  );
}

function headersOf(credential: Credential, token: string): Record<string, string> {
  if (credential.kind === 'passthrough') return { authorization: `Bearer ${token}` };
  return { [credential.name]: (credential.format ?? '{token}').replace('{token}', () => token) };
}

/** Without a word of the body, which may be long and confidential. */
function described(reply: RemoteReply | undefined): string {
  if (reply === undefined) return 'nothing';
  const { status, headers, text } = reply;
  if (text === '') return `${status} and no body`;
  if (parseJson(text) !== undefined) return `${status} and JSON`;
  return `${status} and what is not JSON (${headers.get('content-type') ?? 'of no type'})`;
}

function asReply({ status, headers, text }: RemoteReply): Reply {
  return { status, headers: new Map(headers), body: parseJson(text) };
}
