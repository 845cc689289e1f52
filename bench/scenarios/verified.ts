import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SettingsInput } from '../../src/gateway.ts';
import { createClient, each } from '../client.ts';
import { CLIENT_CORE } from '../cores.ts';
import { countRequests, servePlatform } from '../platform.ts';
import { READ, servePortico } from '../portico.ts';
import type { Scenario } from '../scenario.ts';
import { ours, type Server, serve } from '../server.ts';
import { standings } from '../standings.ts';
import { takeTurnsAs } from '../turns.ts';
import { CALLERS } from '../wrk.ts';

const AUDIENCE = 'https://portico.example/mcp';

/** Long enough for nothing to grow stale while the bench runs. */
const CACHE = { ttlMs: 3_600_000 };

/** The same hits by the same tokens, JWTs of as many subjects, verified and not. */
export const verified: Scenario = {
  name: 'verified',
  title: 'Verification',
  async run(workshop) {
    const client = createClient();
    const tokens = join(workshop.folder, 'tokens');
    const issuer = await serve(workshop, CLIENT_CORE, [
      ours('bench/servers/issuer.ts'),
      tokens,
      `${CALLERS}`,
      AUDIENCE,
    ]);
    const platform = await servePlatform(workshop);
    const written = (await readFile(tokens, 'utf8')).trimEnd().split('\n');

    const forms: readonly { readonly name: string; readonly settings: Partial<SettingsInput> }[] = [
      {
        name: 'verified, with scopes',
        settings: {
          verification: { issuer: issuer.url, audience: AUDIENCE, type: 'at+jwt' },
          resources: { tools: { cache: CACHE, requiredScopes: ['tools:read'] } },
        },
      },
      { name: 'not verified', settings: { resources: { tools: { cache: CACHE } } } },
    ];
    let opened = 0;
    const found = await takeTurnsAs(workshop, {
      forms,
      async open({ name, settings }) {
        opened += 1;
        const server: Server = await servePortico(workshop, platform.url, { settings });
        const url = `${server.url}${READ}tools`;
        await each(CALLERS, 32, async (caller) => {
          const { status } = await client.read(url, written[caller - 1] ?? '');
          if (status !== 200) throw new Error(`${name} answered ${status}`);
        });
        return { server, load: { url, tokens } };
      },
    });
    const asked = await countRequests(platform, client);
    client.close();
    if (asked !== opened * CALLERS)
      throw new Error(`the platform was asked ${asked} times for ${CALLERS} callers of each`);
    return standings(found);
  },
};
