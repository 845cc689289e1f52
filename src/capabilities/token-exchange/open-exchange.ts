import type { Authorization, CredentialOptions } from '../../core/credentials/authorize.ts';
import type { Unusable } from '../../core/credentials/files/watched-files.ts';
import { type Caller, type Credential, requestOf } from '../../core/kernel/caller.ts';
import { createFlights, withDeadline } from '../../core/kernel/deadline.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import { createSizedLru } from '../../core/kernel/tables.ts';
import { createAuthorizationServer, type ServerSettings } from './authorization-server.ts';
import { type ClientSettings, openClientAuthentication } from './client-authentication.ts';
import { errorOfExchange } from './refusals.ts';
import { createRequestToken, type TokenSettings } from './request-token.ts';

/** Settings of an upstream with token exchange (RFC 8693). */
export interface ExchangeSettings extends ServerSettings, Omit<TokenSettings, 'client'> {
  readonly kind: 'exchange';
  readonly client: ClientSettings;
  /** Deadline of one exchange, for all who wait for it; each read has its own deadline too. */
  readonly timeoutMs: number;
  /** Maximum use of a token, whatever its lifetime. */
  readonly maxAgeMs: number;
  /** Maximum size of all tokens with their entries; the least recently used are removed first. */
  readonly maxKeptBytes: number;
}

/** Above the size of any token or metadata. */
const MAX_RESPONSE_BYTES = 65_536;
/** Charge for key, objects and the table, per token; above the actual size. */
const ENTRY_BYTES = 512;
/** Time before its end from which a token is not used. */
const MARGIN_MS = 30_000;
/** Use of a token without a known end. */
const UNKNOWN_MS = 60_000;

interface Given {
  readonly credential: Credential;
  readonly wasKept: boolean;
}

/** Provides tokens by one exchange per credential, which is their key: claims never make two callers one. */
export function openExchange(settings: ExchangeSettings, options: CredentialOptions): Authorization | Unusable {
  const { client, timeoutMs, maxAgeMs, maxKeptBytes } = settings;
  const { upstream, events, now } = options;
  const authentication = openClientAuthentication(client, options);
  if ('issue' in authentication) return authentication;
  const { send, close } = options.openServer({ timeoutMs, maxBytes: MAX_RESPONSE_BYTES });
  const server = createAuthorizationServer({ ...settings, send, clientId: client.id });
  const requestToken = createRequestToken({ ...settings, send, server, now, authenticate: authentication.current });
  const sizeOf = (credential: Credential) => ENTRY_BYTES + credential.reveal().length;
  const tokens = createSizedLru<string, Credential>({ maxSize: maxKeptBytes, sizeOf, now });
  const flights = createFlights<Credential>();
  const givenBy = new WeakMap<object, Given>();

  async function exchange(caller: Caller, signal: AbortSignal): Promise<Credential> {
    const begun = performance.now();
    const emitEnd = (error?: string) =>
      events.tokenExchanged?.({ ...requestOf(caller), upstream, ms: performance.now() - begun, error });
    try {
      const { credential, expiresAt = now() + UNKNOWN_MS + MARGIN_MS } = await withDeadline(
        timeoutMs,
        signal,
        (ended) => requestToken(caller, ended),
      );
      const ends = [expiresAt - MARGIN_MS, now() + maxAgeMs, caller.expiresAt ?? Number.POSITIVE_INFINITY];
      tokens.set(caller.key, credential, Math.min(...ends) - now());
      emitEnd();
      return credential;
    } catch (error) {
      if (signal.aborted || !(error instanceof GatewayError)) throw error;
      const failure = errorOfExchange(error, { what: 'token', status: 0 }).from(upstream);
      emitEnd(failure.code);
      throw failure;
    }
  }

  function give(credential: Credential, wasKept: boolean): Readonly<Record<string, string>> {
    const headers = { authorization: `Bearer ${credential.reveal()}` };
    givenBy.set(headers, { credential, wasKept });
    return headers;
  }

  return {
    callersOwn: false,
    madeForCaller: true,
    async authorize(caller, signal) {
      const { key } = caller;
      const kept = tokens.get(key);
      if (kept !== undefined) return give(kept, true);
      return give(await flights.board(key, signal, (shared) => exchange(caller, shared)), false);
    },
    refused({ key }, headers) {
      const given = givenBy.get(headers);
      if (given === undefined) return false;
      if (tokens.get(key) === given.credential) tokens.delete(key);
      // A cached token may have been revoked; a second new one would not be better.
      return given.wasKept;
    },
    close,
  };
}
