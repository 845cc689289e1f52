import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SettingsInput } from '../../src/gateway.ts';
import { createClient } from '../client.ts';
import { CLIENT_CORE } from '../cores.ts';
import { servePlatform } from '../platform.ts';
import { HELD, READ, servePortico, warmUp } from '../portico.ts';
import { serveRedis } from '../redis.ts';
import { serve } from '../server.ts';
import { type Contender, paired } from '../turns.ts';
import { CALLERS } from '../wrk.ts';

const AUDIENCE = 'https://portico.example/mcp';
const LIMITS = { total: 1_000_000_000, perCaller: 1_000_000_000 };

/** The same hits by the same tokens, JWTs of as many subjects, of Porticos with more and fewer capabilities. */
export const capabilities = paired(
  'capabilities',
  [
    { name: 'verified, limited, logged and counted : none of these', of: 'all', to: 'none', aim: 0.88 },
    { name: 'every read traced : not traced', of: 'traced', to: 'default' },
    { name: 'shared Redis : not shared', of: 'shared', to: 'default' },
  ],
  async (workshop) => {
    const client = createClient();
    const tokens = join(workshop.folder, 'tokens');
    const issuer = await serve(workshop, CLIENT_CORE, 'issuer.ts', tokens, `${CALLERS}`, AUDIENCE);
    const collector = await serve(workshop, CLIENT_CORE, 'collector.ts');
    const redis = await serveRedis(workshop);
    const platform = await servePlatform(workshop);
    const written = (await readFile(tokens, 'utf8')).trimEnd().split('\n');

    async function open(
      settings: Partial<SettingsInput>,
      environment: Readonly<Record<string, string>> = {},
    ): Promise<Contender> {
      const server = await servePortico(workshop, platform.url, { settings: { ...HELD, ...settings }, environment });
      const url = `${server.url}${READ}tools`;
      await warmUp(client, url, { token: (caller) => written[caller - 1] ?? '' });
      return { server, load: { url, tokens } };
    }

    const contenders = {
      all: await open({
        verification: { issuer: issuer.url, audience: AUDIENCE, type: 'at+jwt' },
        resources: { tools: { ...HELD.resources.tools, requiredScopes: ['tools:read'] } },
        limits: LIMITS,
      }),
      none: await open({ log: { level: 'silent' }, admin: { port: 0, metrics: false } }),
      traced: await open(
        { tracing: { enabled: true, sampleRatio: 1 } },
        { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
      ),
      shared: redis && (await open({ shared: redis })),
      default: await open({}),
    };
    client.close();
    return { contenders };
  },
);
