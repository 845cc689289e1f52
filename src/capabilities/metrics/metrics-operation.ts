import type { OpenOperation } from '../../core/http/operations/operation.ts';
import type { Fields } from '../../core/http/request/request-head.ts';

/** Writes the metrics, as OpenMetrics or in Prometheus' own text format. */
export type Scrape = (openMetrics: boolean) => Promise<{ readonly contentType: string; readonly text: string }>;

/**
 * What a scraper asks. No probe: another host's name is refused on loopback, so that no page in a browser there can read it
 * (DNS rebinding).
 */
export function metricsOperation(scrape: Scrape): OpenOperation {
  return {
    path: '/metrics',
    methods: ['GET', 'HEAD'],
    takesBody: false,
    isProbe: false,
    open: true,
    async respond({ fields }) {
      const { contentType, text } = await scrape(takesOpenMetrics(fields));
      return {
        status: 200,
        headers: ['Content-Type', contentType, 'Cache-Control', 'no-store'],
        body: Buffer.from(text),
      };
    },
  };
}

/** Scrapers put what they would rather have, in any version, into `Accept`; whoever names neither is sent text that reads well. */
function takesOpenMetrics({ accept = '' }: Fields): boolean {
  return accept.includes('application/openmetrics-text');
}
