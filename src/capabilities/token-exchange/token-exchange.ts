import { createFileIssues } from '../../core/config/config-error.ts';
import type { Config } from '../../core/config/schema/settings.ts';
import type { Authorization, CredentialOptions } from '../../core/credentials/authorize.ts';
import { openTlsFiles } from '../../core/credentials/files/tls-files.ts';
import type { Unusable } from '../../core/credentials/files/watched-files.ts';
import { createOAuthServer } from '../../core/credentials/oauth-server.ts';
import { type Caller, type Credential, requestOf } from '../../core/kernel/caller.ts';
import { createFlights, withDeadline } from '../../core/kernel/deadline.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import { createSizedLru } from '../../core/kernel/tables.ts';
import { upstreamsInUse } from '../../core/own-files.ts';
import { defineCapability } from '../capability.ts';
import { type ExchangeSettings, openClientAuthentication } from './client-authentication.ts';
import { errorOfExchange } from './refusals.ts';
import { createRequestToken } from './request-token.ts';

/** Exchanges callers' tokens for those of an upstream (RFC 8693, docs/decisions/0031). */
export const tokenExchange = defineCapability({
  purposes: ['serve', 'stdio', 'probe'],
  check(config) {
    const options = { now: Date.now, onChange: () => {} };
    const files = createFileIssues();
    for (const [name, { client, tls }] of exchangesIn(config)) {
      const path = ['upstreams', name, 'credential'];
      files.usable([...path, 'client'], openClientAuthentication(client, options));
      if (tls !== undefined) files.usable([...path, 'tls'], openTlsFiles(tls, options));
    }
    files.check();
  },
  open(_, { config }) {
    if (exchangesIn(config).length === 0) return undefined;
    // The schema of settings has checked them.
    return { openExchange: (settings, options) => openExchange(settings as ExchangeSettings, options) };
  },
  dependsOn: (config) => exchangesIn(config).length > 0,
});

function exchangesIn(config: Config): (readonly [name: string, settings: ExchangeSettings])[] {
  return upstreamsInUse(config).flatMap(([name, { credential }]) =>
    credential.kind === 'exchange' ? [[name, credential] as const] : [],
  );
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
  const authenticate = openClientAuthentication(client, options);
  if ('issue' in authenticate) return authenticate;
  const { send, close } = options.openServer({ timeoutMs, maxBytes: MAX_RESPONSE_BYTES });
  const { tokenUrl, issuer = tokenUrl ?? '' } = settings;
  const server = createOAuthServer({
    ...{ issuer, clientId: client.id, timeoutMs, send },
    // The schema of settings requires one of both.
    metadata: tokenUrl === undefined ? undefined : { issuer, token_endpoint: tokenUrl },
    metadataError: (error, status) => errorOfExchange(error, { what: 'metadata', status }),
  });
  const requestToken = createRequestToken({ ...settings, server, now, authenticate });
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
      tokens.set(caller.credentialKey, credential, Math.min(...ends) - now());
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
    async authorize(caller, signal) {
      const { credentialKey: key } = caller;
      const kept = tokens.get(key);
      if (kept !== undefined) return give(kept, true);
      return give(await flights.board(key, signal, (shared) => exchange(caller, shared)), false);
    },
    refused({ credentialKey: key }, headers) {
      const given = givenBy.get(headers);
      if (given === undefined) return false;
      if (tokens.get(key) === given.credential) tokens.delete(key);
      // A cached token may have been revoked; a second new one would not be better.
      return given.wasKept;
    },
    close,
  };
}
