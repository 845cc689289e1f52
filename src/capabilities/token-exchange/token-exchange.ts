import { ConfigError, type ConfigIssue } from '../../core/config/config-error.ts';
import type { Config } from '../../core/config/schema/settings.ts';
import { openTlsFiles } from '../../core/credentials/files/tls-files.ts';
import { defineCapability } from '../capability.ts';
import { openClientAuthentication } from './client-authentication.ts';
import { type ExchangeSettings, openExchange } from './open-exchange.ts';

/** Exchanges callers' tokens for those of an upstream (RFC 8693, docs/decisions/0031). */
export const tokenExchange = defineCapability({
  purposes: ['serve', 'stdio', 'probe'],
  check(config) {
    const issues = exchangesIn(config).flatMap(([name, settings]) => issuesOf(name, settings));
    if (issues.length > 0) throw new ConfigError(issues);
  },
  open(_, { config }) {
    if (exchangesIn(config).length === 0) return undefined;
    // The schema of settings has checked them.
    return { openExchange: (settings, options) => openExchange(settings as ExchangeSettings, options) };
  },
  dependsOn: (config) => exchangesIn(config).length > 0,
});

type Credential = Extract<Config['upstreams'][string]['credential'], { kind: 'exchange' }>;

/** Returns the upstreams in use whose tokens are exchanged. */
function exchangesIn({ upstreams, resources }: Config): (readonly [name: string, settings: Credential])[] {
  const used = new Set(Object.values(resources).flatMap(({ enabled, upstream }) => (enabled ? [upstream] : [])));
  return Object.entries(upstreams).flatMap(([name, { credential }]) =>
    used.has(name) && credential.kind === 'exchange' ? [[name, credential] as const] : [],
  );
}

/** Returns the files of one exchange that cannot be used. */
function issuesOf(name: string, { client, tls }: Credential): ConfigIssue[] {
  const options = { now: Date.now, onChange: () => {} };
  const path = ['upstreams', name, 'credential'];
  const opened = [
    [[...path, 'client'], openClientAuthentication(client, options)],
    [[...path, 'tls'], tls === undefined ? {} : openTlsFiles(tls, options)],
  ] as const;
  return opened.flatMap(([block, result]) => {
    if (!('issue' in result)) return [];
    return [{ path: result.key === undefined ? block : [...block, result.key], message: result.issue }];
  });
}
