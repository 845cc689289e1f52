import type { Gateway, GatewayOptions, SettingsInput } from '../../src/gateway.ts';
import { createGateway } from '../../src/gateway.ts';
import { TOKEN } from './authorization/caller.ts';
import { onCleanup } from './cleanup.ts';
import { THE_READS } from './platform/openapi.ts';

export { TOKEN };

type Overrides = Omit<Partial<SettingsInput>, 'upstreams'> & { upstream?: Partial<SettingsInput['upstreams'][string]> };

/** Settings of a gateway whose three resources come from the one upstream at `baseUrl`; quiet, on a free port. */
export function settingsFor(baseUrl: string, { upstream = {}, http = {}, ...rest }: Overrides = {}): SettingsInput {
  const each = { baseUrl, ...upstream };
  return {
    http: { port: 0, ...http },
    admin: { enabled: false },
    log: { level: 'silent' },
    upstreams: { projects: each, workflows: each, tools: each },
    ...rest,
  };
}

/** A started gateway, and how to read from it. It is closed with the test where nobody has closed it before. */
export interface RunningGateway {
  readonly gateway: Gateway;
  readonly url: string;
  read(name: string, init?: RequestInit): Promise<Response>;
}

export async function startGateway(settings: SettingsInput, options: GatewayOptions = {}): Promise<RunningGateway> {
  const gateway = createGateway(settings, options);
  const { close } = gateway;
  const ended = onCleanup(close);
  Object.assign(gateway, {
    close() {
      ended();
      return close();
    },
  });
  const url = await gateway.start();
  return {
    gateway,
    url,
    async read(name, init = {}) {
      const target = `/mcp/v1/resources/read?uri=${encodeURIComponent(`platform://${name}`)}`;
      const headers = { authorization: `Bearer ${TOKEN}`, ...init.headers };
      const response = await fetch(`${url}${target}`, { ...init, headers });
      // Whatever a test looks into, a read is answered as its description has it.
      if (init.method === undefined) THE_READS.checkHead(target, response);
      return response;
    },
  };
}
