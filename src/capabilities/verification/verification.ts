import { createFileIssues } from '../../core/config/config-error.ts';
import { type Config, offeredIn } from '../../core/config/schema/settings.ts';
import { openClientSecret } from '../../core/credentials/client-secret.ts';
import type { Unusable, WatchOptions } from '../../core/credentials/files/watched-files.ts';
import { MCP_PATH } from '../../core/http/operations/rpc.ts';
import type { Credential } from '../../core/kernel/caller.ts';
import type { Resource } from '../../core/resources/resource.ts';
import { openServer } from '../../core/upstream/open-upstream.ts';
import { type CapabilityContext, defineCapability } from '../capability.ts';
import { createIntrospect } from './introspection.ts';
import { createIssuer } from './issuer.ts';
import { createKeySet } from './key-set.ts';
import { type Claims, jose } from './outcome.ts';
import { metadataOperations, protectedResource } from './protected-resource.ts';
import { createVerifySigned } from './signed-token.ts';
import { createJudge } from './verdict.ts';
import { type VerificationMethod, withVerdicts } from './verdicts.ts';

const CONNECTIONS = 16;
/** The defaults of an upstream. */
const BREAKER = { failurePercent: 50, minimumCalls: 10, openMs: 5000 };
const RETRY = { attempts: 2, statuses: [502, 503, 504] };
/** Requests for keys: there is one at a time. */
const MAX_KEY_REQUESTS = 4;

/** Verifies callers' access tokens, and publishes where clients obtain them (docs/decisions/0029, 0030). */
export const verification = defineCapability({
  dependsOn: (config, resources) => [verifiedBy(config, resources), config.publicUrl],
  check({ verification: settings }) {
    openClient(settings?.introspection, { now: Date.now, onChange: () => {} });
  },
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
  return { settings: { ...settings, audience }, scopes: [...scopes] };
}

/** Sends no request yet, so that startup does not depend on the issuer. */
function openVerification(by: VerifiedBy, context: CapabilityContext) {
  const { settings, scopes } = by;
  const { keyOf, events, now } = context;
  const { issuer: name, introspection, maxVerifying } = settings;
  const clock = () => performance.now();
  const judge = createJudge({ ...settings, scopes, keyOf });
  const methodOf = (
    by: VerificationMethod['by'],
    claimsOf: (token: string) => Promise<Claims>,
  ): VerificationMethod => ({
    by,
    judge: async (credential, key) => judge(await claimsOf(credential.reveal()), key),
  });

  const onChange = (unusable?: Unusable) =>
    events.secretChanged?.({ block: 'verification.introspection', issue: unusable?.issue });
  const authorization = openClient(introspection, { now, onChange });
  const forKeys = connect('keys', MAX_KEY_REQUESTS, by, context);
  // Half for unknown keys; the other half is for tokens with known keys, however slow the issuer is.
  const maxWaiting = Math.ceil(maxVerifying / 2);
  const keys = createKeySet({ ...settings.keys, issuer: forKeys, maxWaiting, events, now: clock });
  const signature = methodOf('signature', createVerifySigned({ ...settings, keys, now }));
  // Over separate connections, so that slow introspection does not delay keys.
  const forOpaque = authorization && connect('introspection', maxVerifying, by, context);
  const opaque =
    forOpaque &&
    methodOf(
      'introspection',
      createIntrospect({ ...settings, ...introspection, name, issuer: forOpaque, authorization, now }),
    );
  const methodFor = (credential: Credential) =>
    opaque === undefined || isSigned(credential.reveal()) ? signature : opaque;
  return {
    verify: withVerdicts(methodFor, { ...settings, events, now, clock }),
    async stop() {
      await Promise.all([forKeys.close(), forOpaque?.close()]);
    },
  };
}

function connect(
  use: 'keys' | 'introspection',
  maxQueue: number,
  { settings: { issuer, timeoutMs, keys } }: VerifiedBy,
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
  return { ...createIssuer({ issuer, send, timeoutMs }), close };
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

/** Throws `ConfigError` where the file of the secret cannot be used. */
function openClient(settings: NonNullable<Config['verification']>['introspection'], options: WatchOptions) {
  if (settings === undefined) return undefined;
  const files = createFileIssues();
  const opened = files.usable(['verification', 'introspection'], openClientSecret(settings, options));
  files.check();
  return opened?.authorization;
}
