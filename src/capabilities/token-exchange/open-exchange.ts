import type { Authorization } from '../../core/credentials/authorization.ts';
import type { Unusable, WatchOptions } from '../../core/credentials/files/watched-files.ts';
import type { Caller, Credential } from '../../core/kernel/caller.ts';
import { withDeadline } from '../../core/kernel/deadline.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import { createFlights } from '../../core/kernel/flights.ts';
import { requestOf } from '../../core/kernel/trace.ts';
import { createAskForToken, type TokenSettings } from './ask-for-token.ts';
import { createAuthorizationServer, type Send, type ServerSettings } from './authorization-server.ts';
import { type ClientSettings, openClientAuthentication } from './client-authentication.ts';
import { createExchangedTokens } from './exchanged-tokens.ts';
import { errorOfExchange } from './refusals.ts';

/** What settings say of an upstream whose callers' tokens are exchanged (RFC 8693). */
export interface ExchangeSettings extends ServerSettings, Omit<TokenSettings, 'client'> {
  readonly kind: 'exchange';
  readonly client: ClientSettings;
  /** Deadline of one exchange, all who wait for it together; each read has its own beside. */
  readonly timeoutMs: number;
  /** How long a token is used at most, however long it holds. */
  readonly maxAgeMs: number;
  readonly maxKeptBytes: number;
}

export interface ExchangeOptions extends WatchOptions {
  /** Name of the upstream. */
  readonly upstream: string;
  readonly events: Events;
  /** Opens what asks the authorization server, each time for so long at most, and reads so much of a response. */
  readonly openServer: (own: { readonly timeoutMs: number; readonly maxBytes: number }) => {
    readonly send: Send;
    close(): Promise<void>;
  };
}

/** More than any token or metadata take. */
const MAX_RESPONSE_BYTES = 65_536;
/** How long ahead of its end a token is not used any more. */
const MARGIN_MS = 30_000;
/** How long one is used of which nobody says when it ends. */
const UNKNOWN_MS = 60_000;

/** Of headers that were given out. */
interface Given {
  readonly credential: Credential;
  /** Whether the token had been there before it was asked for. */
  readonly wasKept: boolean;
}

/**
 * Gives an upstream tokens that were made for it and its caller, by one exchange for all who ask with the same credential. A
 * token is kept under the key of the caller's credential: nothing that a token says of itself makes two callers one.
 */
export function openExchange(settings: ExchangeSettings, options: ExchangeOptions): Authorization | Unusable {
  const { client, timeoutMs, maxAgeMs } = settings;
  const { upstream, events, now } = options;
  const authentication = openClientAuthentication(client, options);
  if ('issue' in authentication) return authentication;
  const { send, close } = options.openServer({ timeoutMs, maxBytes: MAX_RESPONSE_BYTES });
  const server = createAuthorizationServer({ ...settings, send, clientId: client.id });
  const ask = createAskForToken({ ...settings, send, server, now, authenticate: authentication.current });
  const tokens = createExchangedTokens({ ...settings, now });
  const flights = createFlights<Credential>();
  const givenBy = new WeakMap<object, Given>();

  async function exchange(caller: Caller, signal: AbortSignal): Promise<Credential> {
    const begun = performance.now();
    const tell = (error?: string) =>
      events.tokenExchanged?.({ ...requestOf(caller), upstream, ms: performance.now() - begun, error });
    try {
      const { credential, expiresAt = now() + UNKNOWN_MS + MARGIN_MS } = await withDeadline(
        timeoutMs,
        signal,
        (ended) => ask(caller, ended),
      );
      const ends = [expiresAt - MARGIN_MS, now() + maxAgeMs, caller.expiresAt ?? Number.POSITIVE_INFINITY];
      tokens.keep(caller.key, credential, Math.min(...ends));
      tell();
      return credential;
    } catch (error) {
      if (signal.aborted || !(error instanceof GatewayError)) throw error;
      const failure = errorOfExchange(error, { what: 'token', status: 0 }).from(upstream);
      tell(failure.code);
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
      tokens.drop(key, given.credential);
      // One that was kept may have been revoked since; one that was made just now is no better the second time.
      return given.wasKept;
    },
    close,
  };
}
