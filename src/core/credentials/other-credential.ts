import { type Caller, flawOf, HEADER_VALUE } from '../kernel/caller.ts';
import { ASK_FOR_TOKEN } from '../kernel/error-table.ts';
import { errorWithDetail, GatewayError } from '../kernel/errors.ts';
import { expiryOf, type KeyOf } from './authenticate.ts';

interface OtherCredential {
  readonly from: string;
  readonly upstream: string;
  readonly keyOf: KeyOf;
}

/** The caller as one upstream sees it: another credential is another caller. Throws as `authenticate` does. */
export function withOtherCredential(caller: Caller, { from, upstream, keyOf }: OtherCredential): Caller {
  const [credential, ...more] = caller.headerCredentials?.get(from.toLowerCase()) ?? [];
  if (credential === undefined) {
    const text = `This list needs a credential in the header ${from}, beside the access token.`;
    throw errorWithDetail('credential_missing', text, { header: from, upstream });
  }
  if (more.length > 0) {
    throw errorWithDetail('invalid_request', `The request has more than one ${from} header.`);
  }
  const value = credential.reveal();
  const flaw = flawOf(value, HEADER_VALUE);
  if (flaw !== undefined) {
    const text = `The header ${from} holds no credential: ${flaw}.`;
    throw errorWithDetail('credential_malformed', text, { header: from, upstream });
  }
  // No access token has a space, so that this is never the key of one.
  const key = keyOf(`${caller.credentialKey} ${value}`);
  const ends = [caller.expiresAt, expiryOf(value)].filter((time) => time !== undefined);
  const expiresAt = ends.length === 0 ? undefined : Math.min(...ends);
  return { ...caller, credential, accessToken: caller.credential, credentialKey: key, cacheScope: key, expiresAt };
}

/** Key of all credentials that a caller has sent: callers with equal keys see the same lists. */
export function keyOfAll(
  { credentialKey: key, headerCredentials = new Map(), forwarded = new Map() }: Caller,
  keyOf: KeyOf,
): string {
  const secrets = [...headerCredentials].flatMap(([name, lines]) => [name, ...lines.map((line) => line.reveal())]);
  const values = [...secrets, ...[...forwarded].flat(2)];
  // No access token has a space.
  return values.length === 0 ? key : keyOf(`${key} ${JSON.stringify(values)}`);
}

/** Names the header in an upstream's refusal of this credential. */
export function refusalOf(thrown: unknown, { from }: OtherCredential): unknown {
  if (!(thrown instanceof GatewayError) || thrown.code !== 'credential_rejected') return thrown;
  return thrown.inHeader(from, `The platform refused the credential in the header ${from}. ${ASK_FOR_TOKEN}`);
}
