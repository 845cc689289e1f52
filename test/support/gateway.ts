import type { Gateway, GatewayOptions, SettingsInput } from '../../src/gateway.ts';
import { createGateway } from '../../src/gateway.ts';
import { ANSWER_AHEAD } from './answer-ahead.ts';

export const TOKEN = 'token-of-the-test';

type Overrides = Omit<Partial<SettingsInput>, 'upstreams'> & { upstream?: Partial<SettingsInput['upstreams'][string]> };

/** Settings of a gateway whose three resources come from the one upstream at `baseUrl`; quiet, on a free port. */
export function settingsFor(baseUrl: string, { upstream = {}, http = {}, ...rest }: Overrides = {}): SettingsInput {
  const each = { baseUrl, ...upstream };
  return {
    http: { port: 0, answerAhead: ANSWER_AHEAD, ...http },
    admin: { enabled: false },
    log: { level: 'silent' },
    upstreams: { projects: each, workflows: each, tools: each },
    ...rest,
  };
}

/** A started gateway, and how to read from it. */
export interface RunningGateway {
  readonly gateway: Gateway;
  readonly url: string;
  read(name: string, init?: RequestInit): Promise<Response>;
}

export async function startGateway(settings: SettingsInput, options: GatewayOptions = {}): Promise<RunningGateway> {
  const gateway = createGateway(settings, options);
  const url = await gateway.start();
  return {
    gateway,
    url,
    read: (name, init = {}) =>
      fetch(`${url}/mcp/v1/resources/read?uri=${encodeURIComponent(`platform://${name}`)}`, {
        ...init,
        headers: { authorization: `Bearer ${TOKEN}`, ...init.headers },
      }),
  };
}
