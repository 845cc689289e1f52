import type { Warning } from './warning.ts';

/** Warns of who is let in, and of what platforms are given then. */
export const warnOfVerification: Warning = (settings, warn) => {
  const { config, offered, isWritten } = settings;
  const { verification, upstreams, allowUnverifiedCallers } = config;
  if (verification === undefined) return;
  for (const name of new Set(offered.map((each) => each.settings.upstream))) {
    const isGivenToken = upstreams[name]?.credential.kind === 'passthrough';
    if (!isGivenToken || isWritten(['upstreams', name, 'credential'])) continue;
    warn(
      ['upstreams', name],
      "credential is left out, so that the caller's token goes on to this platform, which MCP forbids a server that verifies it: write credential: { kind: passthrough } if that is meant",
    );
  }
  if (allowUnverifiedCallers) warn(['allowUnverifiedCallers'], 'does nothing beside verification: leave it out');
  const required = new Set(offered.flatMap((each) => each.settings.requiredScopes));
  for (const scope of Object.keys(verification.impliedScopes)) {
    const implied = [...impliedBy(scope, verification.impliedScopes)];
    if (implied.some((one) => required.has(one))) continue;
    warn(['verification', 'impliedScopes', scope], 'implies no scope that a resource requires (requiredScopes)');
  }
  warnOfPublished(settings, warn);
};

/** Warns if the tokens that clients obtain as published would be rejected. */
const warnOfPublished: Warning = ({ config: { verification, publicUrl }, isWritten }, warn) => {
  const { issuer, audience, authorizationServers = [] } = verification ?? {};
  if (issuer === undefined || authorizationServers.length === 0) return;
  if (!authorizationServers.includes(issuer)) {
    warn(
      ['verification', 'authorizationServers'],
      `does not include ${issuer}: only tokens of that issuer are accepted, so a sign-in at another server fails`,
    );
  }
  const resource = `${publicUrl}/mcp`;
  const isTaken = audience === undefined || [audience].flat().includes(resource);
  if (isTaken || !isWritten(['verification', 'audience'])) return;
  warn(
    ['verification', 'audience'],
    `does not include ${resource}, for which clients request tokens: remove audience, unless the authorization server issues another aud`,
  );
};

/** What a scope implies, by however many steps. */
function impliedBy(scope: string, implied: Readonly<Record<string, readonly string[]>>): ReadonlySet<string> {
  const found = new Set(implied[scope]);
  for (const one of found) for (const next of implied[one] ?? []) found.add(next);
  return found;
}
