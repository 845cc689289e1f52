import { createFileIssues } from '../../core/config/config-error.ts';
import type { Config } from '../../core/config/schema/settings.ts';
import { openTlsFiles } from '../../core/credentials/files/tls-files.ts';
import { defineCapability } from '../capability.ts';
import { openClientAuthentication } from './client-authentication.ts';
import { type ExchangeSettings, openExchange } from './open-exchange.ts';

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

type Credential = Extract<Config['upstreams'][string]['credential'], { kind: 'exchange' }>;

function exchangesIn({ upstreams, resources }: Config): (readonly [name: string, settings: Credential])[] {
  const used = new Set(Object.values(resources).flatMap(({ enabled, upstream }) => (enabled ? [upstream] : [])));
  return Object.entries(upstreams).flatMap(([name, { credential }]) =>
    used.has(name) && credential.kind === 'exchange' ? [[name, credential] as const] : [],
  );
}
