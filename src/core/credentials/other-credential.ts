import type { Caller } from '../kernel/caller.ts';
import { GatewayError } from '../kernel/errors.ts';
import { flawOf, HEADER_VALUE } from '../kernel/header-value.ts';
import { expiryOf, type KeyOf } from './authenticate.ts';

export interface OtherCredential {
  /** Name of the header that it comes in, as settings spell it. */
  readonly from: string;
  /** Name of the upstream that it is for. */
  readonly upstream: string;
  readonly keyOf: KeyOf;
}

/**
 * The caller as one upstream knows it, to whom it brings a credential in a header of its own. Whoever brings another one is
 * somebody else there, with the same access token too: nothing is shared between them, nor with whom a partition would.
 *
 * Throws `credential_missing` where it brings none, `credential_malformed` where that is none, and `invalid_request` where
 * there are several.
 */
export function asKnownBy(caller: Caller, { from, upstream, keyOf }: OtherCredential): Caller {
  const [credential, ...more] = caller.others?.get(from.toLowerCase()) ?? [];
  if (credential === undefined) {
    const detail = `This list needs a credential in the header ${from}, beside the access token.`;
    throw new GatewayError('credential_missing', { detail, header: from, upstream });
  }
  if (more.length > 0) {
    throw new GatewayError('invalid_request', { detail: `The request has more than one ${from} header.` });
  }
  const value = credential.reveal();
  if (!HEADER_VALUE.test(value)) {
    throw new GatewayError('credential_malformed', {
      detail: `The header ${from} holds no credential: ${flawOf(value)}.`,
      header: from,
      upstream,
    });
  }
  // No access token holds a space, so that no such key is ever that of one.
  const key = keyOf(`${caller.key} ${value}`);
  const ends = [caller.expiresAt, expiryOf(value)].filter((time) => time !== undefined);
  const expiresAt = ends.length === 0 ? undefined : Math.min(...ends);
  return { ...caller, credential, accessToken: caller.credential, key, partition: key, expiresAt };
}

/** What an upstream's refusal of it is told as. */
export function refusalOf(thrown: unknown, { from }: OtherCredential): unknown {
  if (!(thrown instanceof GatewayError) || thrown.code !== 'credential_rejected') return thrown;
  return thrown.inHeader(from, `The platform does not accept the credential in the header ${from}.`);
}
