import { captureLog } from '../../core/log/captured-log.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';

/** What a platform answers to the request for this URL. */
export type Body = (url: URL) => unknown;

/** A gateway whose tools are never fresh, and come from a platform that answers each request with a body. */
export async function withTools(resource: object, body: Body) {
  const upstream = await startHttpUpstream((request, response) =>
    json(body(new URL(request.url ?? '/', 'http://platform.example')))(request, response),
  );
  const log = captureLog('info');
  const settings = settingsFor(upstream.url, { resources: { tools: { cache: { ttlMs: 0 }, ...resource } } });
  const { gateway, read } = await startGateway(settings, { logger: log.logger });
  return {
    reload: () => gateway.change({ ...settings, log: { level: 'warn' } }),
    async read(token = 'token') {
      const response = await read('tools', { headers: { authorization: `Bearer ${token}` } });
      return { status: response.status, body: (await response.json()) as Record<string, string> };
    },
    doubts: () => log.lines().filter(({ msg }) => msg === 'mapping warning'),
    reason: () => String(log.lines().find(({ msg }) => msg === 'request')?.['reason']),
  };
}
