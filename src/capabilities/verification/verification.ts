import { createFileIssues } from '../../core/config/config-error.ts';
import { type Config, resourceConfig } from '../../core/config/schema/settings.ts';
import { type ClientAuthorization, openClientSecret } from '../../core/credentials/client-secret.ts';
import type { Unusable, WatchOptions } from '../../core/credentials/files/watched-files.ts';
import { MCP_PATH } from '../../core/http/operations/rpc.ts';
import type { Resource } from '../../core/resources/resource.ts';
import { openServer } from '../../core/upstream/open-server.ts';
import { defineCapability } from '../capability.ts';
import { metadataOperations } from './metadata.ts';
import { openVerification, type VerifiedBy } from './open-verification.ts';
import { type ProtectedResource, protectedResource } from './protected-resource.ts';

/** How the issuer is called. */
const ISSUER = {
  tls: undefined,
  proxy: undefined,
  connections: 16,
  breaker: { failurePercent: 50, minimumCalls: 10, windowMs: 10_000, openMs: 5000 },
  retry: { attempts: 2, baseDelayMs: 50, maxDelayMs: 1000, budgetPercent: 20 },
};

/** Verifies callers' access tokens, and publishes where clients obtain them (docs/decisions/0029, 0030). */
export const verification = defineCapability({
  dependsOn: (config, resources) => [verifiedBy(config, resources), config.publicUrl],
  check({ verification: settings }) {
    openClient(settings?.introspection, { now: Date.now, onChange: () => {} });
  },
  open(_, { config, resources, events, now, keyOf, wrapClient }) {
    const by = verifiedBy(config, resources);
    if (by === undefined) return undefined;
    const onChange = (unusable?: Unusable) =>
      events.secretChanged?.({ block: 'verification.introspection', issue: unusable?.issue });
    const { verify, close } = openVerification(by, {
      ...{ keyOf, events, now },
      authorization: openClient(config.verification?.introspection, { now, onChange }),
      openServer: ({ name, ...own }) =>
        // No upstream has such a name.
        openServer({
          ...ISSUER,
          ...own,
          name: `verification.${name}`,
          connectTimeoutMs: own.timeoutMs,
          events,
          wrapClient,
        }),
    });
    const described = describe(config, by);
    return {
      verifier: { verify, tokenSource: described },
      operations: () => (described === undefined ? [] : metadataOperations(described)),
      stop: close,
    };
  },
});

/** Returns what tokens are verified by; `undefined` where settings do not verify them. */
function verifiedBy(config: Config, resources: readonly Resource[]): VerifiedBy | undefined {
  const { verification: settings, publicUrl } = config;
  if (settings === undefined) return undefined;
  const offered = resources.map((resource) => resourceConfig(config, resource)).filter(({ enabled }) => enabled);
  const scopes = new Set(offered.flatMap(({ requiredScopes }) => requiredScopes));
  const { audience = `${publicUrl}${MCP_PATH}` } = settings;
  return { settings: { ...settings, audience }, scopes: [...scopes] };
}

/** Describes this server to clients that obtain tokens; `undefined` where settings name no authorization server. */
function describe(
  { publicUrl, verification: settings }: Config,
  { scopes }: VerifiedBy,
): ProtectedResource | undefined {
  const { authorizationServers = [] } = settings ?? {};
  if (publicUrl === undefined || authorizationServers.length === 0) return undefined;
  return protectedResource({ publicUrl, path: MCP_PATH, authorizationServers, scopes });
}

/** Throws `ConfigError` where the file of the secret cannot be used. */
function openClient(
  settings: NonNullable<Config['verification']>['introspection'],
  options: WatchOptions,
): ClientAuthorization | undefined {
  if (settings === undefined) return undefined;
  const files = createFileIssues();
  const opened = files.usable(['verification', 'introspection'], openClientSecret(settings, options));
  files.check();
  return opened?.authorization;
}
