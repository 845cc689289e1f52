import { ConfigError, type ConfigIssue } from './config/config-error.ts';
import { callerVariable, type LoadedConfig } from './config/load-config.ts';
import type { Config } from './config/schema/settings.ts';
import { createAuthenticate, type Identity } from './credentials/authenticate.ts';
import { Credential, flawOf, HEADER_VALUE, TOKEN } from './kernel/caller.ts';
import { CREDENTIAL_KINDS } from './kernel/credential-kinds.ts';
import { upstreamsInUse } from './secret-files.ts';

/** The caller of a command, by the environment. Throws `ConfigError`, which names `command`, if a credential is missing. */
export async function localCaller(
  {
    config,
    token,
    headerCredentials,
    claims,
    forwarded,
  }: Pick<LoadedConfig, 'claims' | 'config' | 'forwarded' | 'headerCredentials' | 'token'>,
  file: string,
  command: string,
) {
  const issues: ConfigIssue[] = [];
  const others = new Map<string, readonly Credential[]>();
  let needsToken = token !== '';
  for (const [name, { credential }] of upstreamsInUse(config)) {
    if (credential.kind === 'header' && credential.from !== undefined) {
      const { from } = credential;
      const value = headerCredentials.get(from.toLowerCase()) ?? '';
      const flaw = flawOf(value, HEADER_VALUE);
      others.set(from.toLowerCase(), [new Credential(value)]);
      if (flaw === undefined) continue;
      const wrong = value === '' ? 'is not set' : `holds no credential: ${flaw}`;
      const message = `is an HTTP header; ${command} reads its value from the environment variable ${callerVariable('HEADER', from)}, which ${wrong}`;
      issues.push({ path: ['upstreams', name, 'credential', 'from'], message });
    } else if (CREDENTIAL_KINDS[credential.kind].provesToken) needsToken = true;
  }
  const flaw = needsToken ? flawOf(token, TOKEN) : undefined;
  if (flaw !== undefined) {
    const message =
      token === ''
        ? `PORTICO_TOKEN is not set in the environment; ${command} needs an access token`
        : `PORTICO_TOKEN in the environment is not a token of visible ASCII characters: ${flaw}`;
    issues.unshift({ path: [], message });
  }
  if (issues.length > 0) throw new ConfigError(issues, file);
  const identity: Identity = await createAuthenticate()([new Credential(`Bearer ${token || 'none'}`)]);
  // Without verification, there is no other source of claims.
  const verified = { subject: undefined, subjectKey: undefined, scopes: new Set<string>(), claims };
  const headers = new Map([...forwarded].map(([name, value]) => [name, [value]]));
  return { ...identity, ...(claims.size > 0 && { verified }), forwarded: headers, ...(others.size > 0 && { others }) };
}

/** Returns settings without verification: the person who runs a command already holds all secrets of the settings. */
export function withoutVerification(config: Config): Config {
  return { ...config, verification: undefined };
}
