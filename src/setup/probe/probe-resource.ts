import type { LoadedConfig } from '../../core/config/load-config.ts';
import { type ResourceConfig, resourceConfig } from '../../core/config/schema/settings.ts';
import type { Identity } from '../../core/credentials/authenticate.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import { describeFinding, type MappingFinding } from '../../core/mapping/findings.ts';
import { define, type Resource, requiredFields } from '../../core/resources/resource.ts';
import { type Statement, statementsOf } from '../../core/upstream/signs/statements.ts';
import { errorKeys } from './error-keys.ts';
import { type Exchange, type Exchanges, recordExchanges } from './exchanges.ts';
import type { Subject } from './experiments/experiment.ts';
import { runExperiments } from './experiments/run-experiments.ts';
import { createTrials, type Try } from './experiments/trials.ts';
import { createMasks, type Masks } from './masks.ts';
import { firstItemOf, lookAt, mapsAll, parsePage } from './page-look.ts';
import type { FirstItem, ResourceReport, Warning } from './probe-report.ts';
import { describeFailure } from './read-failure.ts';
import { safeJson, safeTexts } from './safe-text.ts';
import { hintsFor } from './setting-hints.ts';
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
    mappingDoubted: ({ finding, field = '' }) => {
      const found: MappingFinding = finding === 'field_empty' ? { finding, field } : { finding };
      warnings.push({ ...found, text: describeFinding(found) });
    },
  };
  const trials = createTrials({ config, settings, identity, resource: resource.name, onRequest: masks.learn });
  const begun = performance.now();
  return readOnce({ config, resource: resource.name, identity, tap: exchanges.tap, events }, async (outcome) => {
    const ms = rounded(performance.now() - begun);
    const { pages } = exchanges;
    const { excluded, dropped } = seen;
    const read = { ...report, ...describeExchange(exchanges, masks), ms, pages, excluded, dropped };
    const describe = (error?: GatewayError) =>
      describePage({ resource, settings, exchanges, masks, attempt: trials.attempt, error });
    if (outcome instanceof GatewayError) {
      const page = await describe(outcome);
      const isPageShown = page.first !== undefined || page.suggestions.length > 0;
      const error = await describeFailure(outcome, exchanges, masks, isPageShown);
      const lookAt = errorKeys(outcome, resource.name, settings.upstream, config);
      return { ...read, warnings, ...page, extraRequests: trials.requests(), error, lookAt };
    }
    const items: readonly Readonly<Record<string, string>>[] = JSON.parse(outcome.snapshot.bytes.toString('utf8'));
    const isWritten = (key: string) => loaded.isWritten(['resources', resource.name, key]);
    const subject = { resource, settings, isWritten, attempt: trials.attempt, ...seen };
    const { findings, notTried } = await experimentsOn(subject, { config, exchanges, onExperiment });
    return {
      ...read,
      ok: true,
      items: items.length,
      emptyFields: emptyFields(resource, items),
      warnings: [...warnings, ...findings.map((found) => ({ ...found, text: masks.safe(found.text, 500) }))],
      extraRequests: trials.requests(),
      notTried,
      ...(await describe()),
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

interface ExperimentsContext extends Pick<ProbeResourceOptions, 'onExperiment'> {
  readonly config: LoadedConfig['config'];
  readonly exchanges: Exchanges;
}

async function experimentsOn(
  subject: Omit<Subject, 'credential' | 'request' | 'first'>,
  { config, exchanges, onExperiment }: ExperimentsContext,
) {
  const exchange = firstPage(exchanges);
  const first = exchange && lookAt(exchange.page, exchange.headers, subject.settings);
  const credential = config.upstreams[subject.settings.upstream]?.credential;
  if (exchange === undefined || first === undefined || credential === undefined) return { findings: [], notTried: [] };
  return runExperiments({ ...subject, credential, request: exchange.request, first }, onExperiment);
}

function emptyFields({ shape }: Resource, items: readonly Readonly<Record<string, string>>[]): string[] {
  if (items.length === 0) return [];
  return Object.keys(shape.shape).filter((field) => items.every((item) => item[field] === ''));
}

function firstPage({ sent }: Exchanges): (Exchange & { readonly page: Buffer }) | undefined {
  return sent.find((exchange): exchange is Exchange & { readonly page: Buffer } => exchange.page !== undefined);
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

interface PageContext {
  readonly resource: Resource;
  readonly settings: ResourceConfig;
  readonly exchanges: Exchanges;
  readonly masks: Masks;
  readonly attempt: Try;
  /** Why the read failed. */
  readonly error: GatewayError | undefined;
}

/** Describes the first page: its first item, its signs of further pages, and hints for settings that fit it better. */
async function describePage({ resource, settings, exchanges, masks, attempt, error }: PageContext) {
  const exchange = firstPage(exchanges);
  const parsed = exchange && parsePage(exchange.page, settings);
  if (exchange === undefined || parsed === undefined) return { signs: [], suggestions: [] };
  const { body, page } = parsed;
  const { headers } = exchange;
  const required = requiredFields(resource);
  const first = page && firstItemOf(page, settings, required);
  const bodies = exchanges.sent.flatMap((each) => each.page ?? []);
  const isPagingInDoubt =
    error !== undefined && PAGING_CODES.includes(error.code) && mapsAll(bodies, settings, required);
  const inDoubt = isPagingInDoubt ? 'pagination' : /^field /.test(error?.reason ?? '') ? 'fields' : undefined;
  const seen = { body, headers, count: page?.items.length, inDoubt } as const;
  const { safe } = masks;
  const hints = (await hintsFor(resource, settings, seen, attempt)).map(({ setting, value, why }) => {
    return { setting, value: safe(value, 500), why: safe(why, 500) };
  });
  const signs = statementsOf(page?.enclosing ?? [], headers).map((statement) => describeSign(statement, masks));
  return { signs, ...(first !== undefined && { first: safeItem(first, masks) }), suggestions: hints };
}

/** Codes of reads that can fail because of their paging. */
const PAGING_CODES: readonly string[] = ['upstream_invalid', 'upstream_refused'];

function describeSign({ sign, name, path, says }: Statement, { safe }: Masks): string {
  const where = safe(path ?? `the header ${name}`, 100);
  if (typeof says === 'number') return `${where} is ${says}`;
  const what = sign === 'previous' ? 'a page before this one' : 'more';
  return `${where} says that there is ${says ? what : `no ${what.replace(/^a /, '')}`}`;
}

function safeItem({ raw, mapped, from, why }: FirstItem, { safe }: Masks): FirstItem {
  return {
    raw: safeJson(raw, safe),
    ...(mapped && { mapped: safeTexts(mapped, safe) }),
    from: safeTexts(from, safe),
    ...(why !== undefined && { why: safe(why, 300) }),
  };
}

/** Rounds to a tenth of a millisecond. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
