import { ConfigError, type ConfigIssue } from './config/config-error.ts';
import type { Environment } from './config/environment.ts';
import { callerValueNames } from './config/schema/caller-values.ts';
import type { Config } from './config/schema/settings.ts';
import { createAuthenticate, type Identity } from './credentials/authenticate.ts';
import { Credential, flawOf, HEADER_VALUE, TOKEN } from './kernel/caller.ts';
import { CREDENTIAL_KINDS } from './kernel/credential-kinds.ts';
import { upstreamsInUse } from './secret-files.ts';

interface LocalCallerOptions {
  readonly config: Config;
  readonly environment: Environment;
  readonly file: string;
  /** Named in errors. */
  readonly command: string;
}

/** The variable for a value of callers: `PORTICO_HEADER_X_ACME_TOKEN`, `PORTICO_CLAIM_TENANT`. */
function variableOf(source: 'HEADER' | 'CLAIM', name: string): string {
  return `PORTICO_${source}_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
}

/** The caller of a command, by the environment. Throws `ConfigError` if a credential is missing. */
export async function localCaller({ config, environment, file, command }: LocalCallerOptions) {
  const issues: ConfigIssue[] = [];
  const headerCredentials = new Map<string, readonly Credential[]>();
  const token = environment['PORTICO_TOKEN'] ?? '';
  let needsToken = token !== '';
  for (const [name, { credential }] of upstreamsInUse(config)) {
    if (credential.kind === 'header' && credential.from !== undefined) {
      const variable = variableOf('HEADER', credential.from);
      const value = environment[variable] ?? '';
      const flaw = flawOf(value, HEADER_VALUE);
      headerCredentials.set(credential.from.toLowerCase(), [new Credential(value)]);
      if (flaw === undefined) continue;
      const wrong = value === '' ? 'is not set' : `holds no credential: ${flaw}`;
      const message = `is an HTTP header; ${command} reads its value from the environment variable ${variable}, which ${wrong}`;
      issues.push({ path: ['upstreams', name, 'credential', 'from'], message });
    } else if (CREDENTIAL_KINDS[credential.kind].provesToken) needsToken = true;
  }
  const flaw = needsToken ? flawOf(token, TOKEN) : undefined;
  if (flaw !== undefined) {
    const wrong = token === '' ? 'is not set' : `is not a token of visible ASCII characters: ${flaw}`;
    issues.unshift({
      path: [],
      message: `PORTICO_TOKEN of the environment ${wrong}; ${command} needs an access token`,
    });
  }
  if (issues.length > 0) throw new ConfigError(issues, file);
  const identity: Identity = await createAuthenticate()([new Credential(`Bearer ${token || 'none'}`)]);
  const given = (source: 'HEADER' | 'CLAIM', names: readonly string[]) =>
    names
      .map((name) => [name, environment[variableOf(source, name)] ?? ''] as const)
      .filter(([, value]) => value !== '');
  const names = callerValueNames(config);
  const claims = new Map(given('CLAIM', names.claims));
  const headers = given('HEADER', names.headers).map(([name, value]) => [name.toLowerCase(), [value]] as const);
  // Without verification, there is no other source of claims.
  const verified = { subject: undefined, subjectKey: undefined, scopes: new Set<string>(), claims };
  return {
    ...identity,
    ...(claims.size > 0 && { verified }),
    forwarded: new Map(headers),
    ...(headerCredentials.size > 0 && { headerCredentials }),
  };
}

/** Returns settings without verification: the person who runs a command already holds all secrets of the settings. */
export function withoutVerification(config: Config): Config {
  return { ...config, verification: undefined };
}
