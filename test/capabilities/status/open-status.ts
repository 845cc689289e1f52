import type { CapabilityContext } from '../../../src/capabilities/capability.ts';
import { createGatewayStatus } from '../../../src/capabilities/status/gateway-status.ts';
import { joinEvents } from '../../../src/core/kernel/events.ts';
import { RESOURCES } from '../../../src/core/resources/index.ts';
import { configOf } from '../../support/limits.ts';

const upstream = { upstream: 'acme' };
const CONFIG = configOf({
  upstreams: { acme: { baseUrl: 'http://acme.example' } },
  resources: { projects: upstream, workflows: upstream, tools: upstream },
});

export const ACME = { upstream: 'acme', instanceId: Symbol('acme') };
export const PAGE = { requestId: 'r-1', upstream: 'acme', method: 'GET', ms: 1, bytes: 1 } as const;

/** The status of a gateway with one upstream, with a clock that `later` moves. */
export function openStatus() {
  let seconds = 1_800_000_000;
  const { listeners, status } = createGatewayStatus({
    ...{ config: CONFIG, resources: RESOURCES, now: () => 1000 * seconds },
  } as unknown as CapabilityContext);
  const events = joinEvents(listeners);
  events.upstreamOpened?.(ACME);
  /** The lines of the verdict, each with how long its trouble has lasted. */
  const lines = async () =>
    (await status()).verdict.troubles.map(({ level, text, since }) => {
      return `${level} ${text}${since === null ? '' : ` for ${seconds - Date.parse(since) / 1000} s`}`;
    });
  return { events, status, lines, later: (more: number) => (seconds += more) };
}
