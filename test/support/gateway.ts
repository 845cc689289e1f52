import type { GatewayOptions, SettingsInput } from '../../src/gateway.ts';
import { createGateway } from '../../src/gateway.ts';
import { TOKEN } from './authorization/caller.ts';
import { onCleanup } from './cleanup.ts';
import { splitLimits, type TestSettings } from './limits.ts';
import { THE_READS } from './platform/openapi.ts';
import { bodyOf, RPC_FIELDS } from './rpc.ts';

export { TOKEN };

type Overrides = Omit<Partial<TestSettings>, 'upstreams'> & { upstream?: Partial<TestSettings['upstreams'][string]> };

const QUIET = { admin: { enabled: false }, log: { level: 'silent' } } as const;

/** Settings of a gateway whose three resources come from the one upstream at `baseUrl`; quiet, on a free port. */
export function settingsFor(baseUrl: string, overrides: Overrides = {}): TestSettings {
  const { upstream = {}, http = {}, ...rest } = overrides;
  const each = { baseUrl, ...upstream };
  return {
    http: { port: 0, ...http },
    ...QUIET,
    upstreams: { projects: each, workflows: each, tools: each },
    ...rest,
  };
}

export type RunningGateway = Awaited<ReturnType<typeof startGateway>>;

/** A started gateway, and how to read from it; quiet, on a free port, unless settings say otherwise. It is closed with its test. */
export async function startGateway(written: TestSettings, options: GatewayOptions = {}) {
  const { settings, limits } = splitLimits(written);
  // Unless a test is about it, no load is shed: other tests on this machine can delay the event loop.
  const http = { maxEventLoopDelayMs: 0, ...limits.http };
  // Unless a test is about them: its requests would be among those that tests count.
  const quiet = { ...QUIET, ...(options.capabilities === undefined && { confirmation: { enabled: false } }) };
  const quietly = (own: SettingsInput) => ({ ...quiet, ...own, http: { port: 0, ...own.http } });
  const gateway = createGateway(quietly(settings), { limits: { ...limits, http }, ...options });
  const { change, close } = gateway;
  const ended = onCleanup(close);
  Object.assign(gateway, {
    change: (next: TestSettings) => change(quietly(splitLimits(next).settings)),
    close() {
      ended();
      return close();
    },
  });
  const url = await gateway.start();
  return {
    gateway,
    url,
    async read(name: string, init: RequestInit = {}): Promise<Response> {
      const target = `/mcp/v1/resources/read?uri=${encodeURIComponent(`platform://${name}`)}`;
      const headers = { authorization: `Bearer ${TOKEN}`, ...init.headers };
      const response = await fetch(`${url}${target}`, { ...init, headers });
      // Each response complies with the OpenAPI description.
      if (init.method === undefined) THE_READS.checkHead(target, response);
      return response;
    },
    post: (message: unknown, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${url}/mcp`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, ...RPC_FIELDS, ...headers },
        body: bodyOf(message),
      }),
  };
}
