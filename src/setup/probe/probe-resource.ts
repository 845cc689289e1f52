import type { LoadedConfig } from '../../core/config/load-config.ts';
import { type ResourceConfig, resourceConfig } from '../../core/config/schema/settings.ts';
import type { Identity } from '../../core/credentials/authenticate.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import { describeFinding, type MappingFinding } from '../../core/mapping/mapper.ts';
import { define, type Resource } from '../../core/resources/resource.ts';
import { type Exchange, type Exchanges, recordExchanges } from './exchanges.ts';
import { runExperiments } from './experiments/run-experiments.ts';
import { createTrials } from './experiments/trials.ts';
import { createMasks, type Masks } from './masks.ts';
import { lookAt } from './page-look.ts';
import { describePage, type PageExchange } from './page-report.ts';
import type { ResourceReport, Warning } from './probe-report.ts';
import { describeFailure, errorKeys } from './read-failure.ts';
import { readOnce } from './single-read.ts';

export interface ProbeResourceOptions {
  readonly loaded: LoadedConfig;
  readonly identity: Identity;
  /** Called with the number of pages so far. */
  readonly onPage: (pages: number) => void;
  /** Called with the name of the experiment that begins. */
  readonly onExperiment: (name: string) => void;
  /** Whether a POST is sent that settings do not declare harmless. */
  readonly allowPost: boolean;
}

/** Reads one resource as `portico serve` does, and reports the exchange and the result. */
export async function probeResource(resource: Resource, options: ProbeResourceOptions): Promise<ResourceReport> {
  const { loaded, identity, onPage, onExperiment, allowPost } = options;
  const { config } = loaded;
  const settings = resourceConfig(config, resource);
  const report = emptyReport(resource, config.scheme, settings);
  if (settings.method === 'POST' && !settings.retryPost && !allowPost) {
    const notRead = `it needs a POST, which can write; --allow-post sends it, and resources.${resource.name}.retryPost: true declares that it changes nothing`;
    return { ...report, notRead };
  }
  const masks = createMasks(loaded, resource.name, settings);
  const exchanges = recordExchanges({ onRequest: masks.learn, onPage });
  const seen = { excluded: 0, dropped: 0, received: 0, items: 0, defaulted: NONE };
  const warnings: Warning[] = [];
  const events: Events = {
    listLoaded: ({ excluded, dropped, received, items, defaulted }) => {
      Object.assign(seen, { excluded, dropped, received, items, defaulted });
    },
    mappingWarning: ({ finding, field = '' }) => {
      const found: MappingFinding = finding === 'field_empty' ? { finding, field } : { finding };
      warnings.push({ ...found, text: describeFinding(found) });
    },
  };
  const trials = createTrials({ config, settings, identity, resource: resource.name, onRequest: masks.learn });
  const context = { resource, settings, masks, attempt: trials.attempt };
  const begun = performance.now();
  return readOnce({ config, resource: resource.name, identity, tap: exchanges.tap, events }, async (outcome) => {
    const ms = rounded(performance.now() - begun);
    const { excluded, dropped } = seen;
    const read = { ...report, ...describeExchange(exchanges, masks), ms, pages: exchanges.pages, excluded, dropped };
    const exchange = firstPage(exchanges);
    if (outcome instanceof GatewayError) {
      const lookAt = errorKeys(outcome, resource.name, settings.upstream, config);
      const page = await describePage(exchange, { ...context, lookAt: lookAt.map(({ setting }) => setting) });
      const isPageShown = page.first !== undefined || page.suggestions.length > 0;
      const error = await describeFailure(outcome, exchanges, masks, isPageShown);
      return { ...read, warnings, ...page, extraRequests: trials.requests(), error, lookAt };
    }
    const items: readonly Readonly<Record<string, string>>[] = JSON.parse(outcome.snapshot.bytes.toString('utf8'));
    const first = exchange && lookAt(exchange.page, exchange.headers, settings);
    const credential = config.upstreams[settings.upstream]?.credential;
    const isWritten = (key: string) => loaded.isWritten(['resources', resource.name, key]);
    const { findings, notTried } =
      exchange === undefined || first === undefined || credential === undefined
        ? { findings: [], notTried: [] }
        : await runExperiments(
            { ...context, ...seen, credential, isWritten, request: exchange.request, first },
            onExperiment,
          );
    return {
      ...read,
      ok: true,
      items: items.length,
      emptyFields: emptyFields(resource, items),
      warnings: [...warnings, ...findings.map((found) => ({ ...found, text: masks.safe(found.text, 500) }))],
      extraRequests: trials.requests(),
      notTried,
      ...(await describePage(exchange, { ...context, lookAt: [] })),
    };
  });
}

const NONE: ReadonlyMap<string, number> = new Map();

function emptyReport(resource: Resource, scheme: string, { upstream }: ResourceConfig): ResourceReport {
  return {
    ...{ resource: resource.name, uri: define(resource, scheme).uri, upstream, ok: false },
    ...{ ms: 0, pages: 0, items: 0, excluded: 0, dropped: 0, extraRequests: 0 },
    ...{ signs: [], emptyFields: [], warnings: [], notTried: [], suggestions: [] },
  };
}

function emptyFields({ shape }: Resource, items: readonly Readonly<Record<string, string>>[]): string[] {
  if (items.length === 0) return [];
  return Object.keys(shape.shape).filter((field) => items.every((item) => item[field] === ''));
}

function firstPage({ sent }: Exchanges): PageExchange | undefined {
  return sent.find((exchange): exchange is PageExchange => exchange.page !== undefined);
}

/** Describes the first request, and the response with the first page or else the last response. */
function describeExchange(exchanges: Exchanges, masks: Masks): Pick<ResourceReport, 'request' | 'response'> {
  const [first] = exchanges.sent;
  const response = firstPage(exchanges) ?? exchanges.answered.at(-1);
  const contentType = (headers: Exchange['headers']) => [headers['content-type'] ?? ''].flat().join(', ');
  return {
    ...(first !== undefined && { request: masks.show(first.request) }),
    ...(response !== undefined && {
      response: {
        status: response.status,
        contentType: masks.safe(contentType(response.headers), 100),
        ms: rounded(response.ms),
      },
    }),
  };
}

/** Rounds to a tenth of a millisecond. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
