import { callerValueNames } from '../../core/config/schema/caller-values.ts';
import { type Config, offeredIn } from '../../core/config/schema/settings.ts';
import { openSecret } from '../../core/credentials/files/secret-file.ts';
import { createOAuthServer } from '../../core/credentials/oauth-server.ts';
import { MCP_PATH } from '../../core/http/operations/rpc.ts';
import type { Credential } from '../../core/kernel/caller.ts';
import { withDeadline } from '../../core/kernel/deadline.ts';
import { parseJson } from '../../core/kernel/json-shape.ts';
import type { Resource } from '../../core/resources/resource.ts';
import { openFilesOf } from '../../core/secret-files.ts';
import { openServer } from '../../core/upstream/open-upstream.ts';
import { type CapabilityContext, defineCapability } from '../capability.ts';
import { createClaimsCheck } from './claims-to-identity.ts';
import { createIntrospect } from './introspection.ts';
import { createKeySet } from './key-set.ts';
import { metadataOperations, protectedResource } from './protected-resource.ts';
import { createVerifySigned } from './signed-token.ts';
import { withVerificationCache } from './verification-cache.ts';
import { issuerError, jose, NO_CALLER, unavailable, type VerificationConfig } from './verification-errors.ts';

const CONNECTIONS = 16;
/** The defaults of an upstream. */
const BREAKER = { failurePercent: 50, minimumCalls: 10, openMs: 5000 };
const RETRY = { attempts: 2, statuses: [502, 503, 504] };
/** Requests for keys: there is one at a time. */
const MAX_KEY_REQUESTS = 4;

/** Verifies callers' access tokens, and publishes where clients obtain them (docs/decisions/0029, 0030). */
export const verification = defineCapability({
  dependsOn: (config, resources) => [verifiedBy(config, resources), config.publicUrl],
  open(_, context) {
    const { config, resources } = context;
    const by = verifiedBy(config, resources);
    if (by === undefined) return undefined;
    const { publicUrl } = config;
    const { authorizationServers } = by.settings;
    const isDescribed = publicUrl !== undefined && authorizationServers.length > 0;
    const described = isDescribed ? protectedResource(publicUrl, authorizationServers, by.scopes) : undefined;
    const { verify, stop } = openVerification(by, context);
    return {
      verifier: { verify, tokenSource: described },
      operations: () => (described === undefined ? [] : metadataOperations(described)),
      stop,
    };
  },
});

type VerifiedBy = NonNullable<ReturnType<typeof verifiedBy>>;

/** Returns what tokens are verified by; `undefined` where settings do not verify them. */
function verifiedBy(config: Config, resources: readonly Resource[]) {
  const { verification: settings, publicUrl } = config;
  if (settings === undefined) return undefined;
  const scopes = new Set(offeredIn(config, resources).flatMap(({ settings }) => settings.requiredScopes));
  const { audience = `${publicUrl}${MCP_PATH}` } = settings;
  const { claims } = callerValueNames(config);
  return { settings: { ...settings, audience }, scopes: [...scopes], claimNames: claims };
}

/** Sends no request yet, so that startup does not depend on the issuer. */
function openVerification(by: VerifiedBy, context: CapabilityContext) {
  const { settings, scopes, claimNames } = by;
  const { keyOf, events, now } = context;
  const { issuer, introspection, maxVerifying, timeoutMs } = settings;
  const clock = () => performance.now();
  const check = createClaimsCheck({ ...settings, scopes, claimNames, keyOf });
  const secret =
    introspection &&
    openFilesOf(['verification', 'introspection'], context, (watch) => openSecret(introspection, watch)).current;
  const forKeys = connect('keys', MAX_KEY_REQUESTS, by, context);
  const findKey = createKeySet({
    ...settings.keys,
    ...{ issuer, events, now: clock },
    load: () => loadKeys(forKeys, settings),
  });
  const claimsOfSigned = createVerifySigned({ ...settings, findKey, now });
  // Over separate connections, so that slow introspection does not delay keys.
  const forOpaque = secret && connect('introspection', maxVerifying, by, context);
  const introspect = forOpaque && createIntrospect({ ...settings, server: forOpaque.server, timeoutMs, secret, now });
  const judge = async (credential: Credential, key: string) => {
    const token = credential.reveal();
    const claimsOf = introspect === undefined || isSigned(token) ? claimsOfSigned : introspect;
    return check(await claimsOf(token), key);
  };
  return {
    verify: withVerificationCache(judge, { ...settings, events, now, clock }),
    async stop() {
      await Promise.all([forKeys.close(), forOpaque?.close()]);
    },
  };
}

type Connected = ReturnType<typeof connect>;

/** Requests the keys at the address in settings, or in the metadata. Rejects with `verifier_unavailable`. */
async function loadKeys({ server, send }: Connected, { keys, timeoutMs }: VerificationConfig): Promise<unknown> {
  try {
    return await withDeadline(timeoutMs, new AbortController().signal, async (signal) => {
      const { url = (await server.metadata(NO_CALLER, signal)).jwks_uri } = keys;
      if (url === undefined) throw unavailable('the metadata names no jwks_uri');
      const headers = { accept: 'application/json' };
      const response = await send({ url: new URL(url), headers, body: undefined, caller: NO_CALLER }, signal);
      if (response.status !== 200) throw unavailable(`the issuer answered with status ${response.status}`);
      return parseJson(await response.text());
    });
  } catch (error) {
    server.forget();
    throw issuerError(error, 0);
  }
}

function connect(
  use: 'keys' | 'introspection',
  maxQueue: number,
  { settings: { issuer, timeoutMs, keys, introspection } }: VerifiedBy,
  { events, limits, wrapClient }: CapabilityContext,
) {
  const { send, close } = openServer({
    tls: undefined,
    proxy: undefined,
    connections: CONNECTIONS,
    breaker: { ...BREAKER, ...limits.breaker },
    retry: { ...limits.retry, ...RETRY },
    // No upstream has such a name.
    name: `verification.${use}`,
    timeoutMs,
    connectTimeoutMs: timeoutMs,
    maxBytes: keys.maxBytes,
    maxQueue,
    events,
    wrapClient,
  });
  const { url, clientId = 'portico' } = introspection ?? {};
  const metadata = use === 'keys' || url === undefined ? undefined : { issuer, introspection_endpoint: url };
  const server = createOAuthServer({ issuer, metadata, clientId, timeoutMs, send, toError: issuerError });
  return { server, send, close };
}

/** Returns whether a token has the form of a JWT: three parts, the first of which names an algorithm. */
function isSigned(token: string): boolean {
  if (token.split('.', 4).length !== 3) return false;
  try {
    return jose().decodeProtectedHeader(token).alg !== undefined;
  } catch {
    return false;
  }
}
