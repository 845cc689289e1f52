import { randomUUID } from 'node:crypto';
import type { LoadedConfig } from '../../core/config/load-config.ts';
import { type ResourceConfig, resourceConfig } from '../../core/config/schema/settings.ts';
import { createCore } from '../../core/core.ts';
import type { Identity } from '../../core/credentials/authenticate.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import { withoutVerification } from '../../core/local-caller.ts';
import { addCounts, describeFinding, findingsOf, type MappingFinding, NO_COUNTS } from '../../core/mapping/findings.ts';
import { createMapper } from '../../core/mapping/mapper.ts';
import { createPageParser, type Page } from '../../core/mapping/page.ts';
import type { Load } from '../../core/reads/snapshots/load.ts';
import { define, type Resource, requiredFields } from '../../core/resources/resource.ts';
import { textOf } from '../../core/upstream/client/body.ts';
import type { Tap } from '../../core/upstream/client/tap.ts';
import { type Statement, statementsOf } from '../../core/upstream/signs/statements.ts';
import { describeError } from './describe-error.ts';
import { errorKeys } from './error-keys.ts';
import { type Exchange, type Exchanges, recordExchanges } from './exchanges.ts';
import type { Subject } from './experiments/experiment.ts';
import { runExperiments } from './experiments/run.ts';
import { createTrials, lookAt, type Try } from './experiments/trial.ts';
import { firstItemOf } from './first-item.ts';
import { createMasks, type Masks } from './masks.ts';
import type { FirstItem, ResourceReport, Warning } from './report.ts';
import { safeJson, safeTexts } from './safe-text.ts';
import { suggestSettings } from './suggest.ts';

export interface ProbeResourceOptions {
  readonly loaded: LoadedConfig;
  readonly identity: Identity;
  /** Told how many pages came. */
  readonly onPage: (pages: number) => void;
  /** Called with the name of the experiment that begins. */
  readonly onExperiment: (name: string) => void;
  /** Whether a POST is sent that may write. */
  readonly allowPost: boolean;
}

/**
 * Reads one resource as `portico serve` would, from its first read on, and tells what went over the wire and what was made of
 * it. It takes the way of a read itself: nothing is decided here that the read decides.
 */
export async function probeResource(resource: Resource, options: ProbeResourceOptions): Promise<ResourceReport> {
  const { loaded, identity, onPage, onExperiment, allowPost } = options;
  const settings = resourceConfig(loaded.config, resource);
  if (settings.method === 'POST' && !settings.retryPost && !allowPost) return unread(resource, loaded);
  const masks = createMasks(loaded, resource.name, settings);
  const exchanges = recordExchanges(onPage);
  const counts = { excluded: 0, dropped: 0 };
  const seen = { received: 0, items: 0, defaulted: new Map<string, number>() as ReadonlyMap<string, number> };
  const warnings: Warning[] = [];
  const events: Events = {
    listLoaded: ({ excluded, dropped, received, items, defaulted }) => {
      Object.assign(counts, { excluded, dropped });
      Object.assign(seen, { received, items, defaulted });
    },
    mappingDoubted: (doubted) => warnings.push(describeDoubt(doubted)),
  };
  const tap: Tap = (request) => {
    masks.learn(request);
    return exchanges.tap(request);
  };
  const core = createCore(withoutVerification(loaded.config), { events, now: Date.now, tap });
  const begun = performance.now();
  try {
    const caller = { ...identity, requestId: randomUUID() };
    const outcome = await settle(core.catalogue.read(resource.name, caller, { signal: new AbortController().signal }));
    const ms = rounded(performance.now() - begun);
    const items = outcome instanceof GatewayError ? undefined : itemsOf(outcome);
    const trials = createTrials({ config: loaded.config, resource, settings, identity, onRequest: masks.learn });
    const { shown, notTried } =
      items === undefined
        ? NONE
        : await experimentsOn({ resource, settings, loaded, exchanges, trials, seen, onExperiment });
    const page = await describePage(resource, settings, {
      exchanges,
      masks,
      attempt: trials.attempt,
      failed: outcome instanceof GatewayError ? outcome : undefined,
    });
    const isPageTold = page.first !== undefined || page.suggestions.length > 0;
    const failed =
      outcome instanceof GatewayError ? await describeError(outcome, exchanges, masks, isPageTold) : undefined;
    return {
      resource: resource.name,
      uri: define(resource, loaded.config.scheme).uri,
      upstream: settings.upstream,
      ok: items !== undefined,
      ...describeExchange(exchanges, masks),
      ms,
      pages: exchanges.pages,
      items: items?.length ?? 0,
      ...counts,
      emptyFields: items === undefined ? [] : emptyFields(resource, items),
      warnings: [...warnings, ...shown.map(({ text, ...found }) => ({ ...found, text: masks.safe(text, 500) }))],
      extraRequests: trials.requests(),
      notTried,
      ...(failed !== undefined && { error: failed }),
      ...(outcome instanceof GatewayError && {
        lookAt: errorKeys(outcome, resource.name, settings.upstream, loaded.config),
      }),
      ...page,
    };
  } finally {
    await core.close();
  }
}

const NONE = { shown: [], notTried: [] };

/** What is said of a resource that takes a POST that may write: nothing was sent. */
function unread(resource: Resource, { config }: LoadedConfig): ResourceReport {
  const { upstream } = resourceConfig(config, resource);
  const notRead = `it needs a POST, which may write; --allow-post sends it, and resources.${resource.name}.retryPost: true declares that it changes nothing`;
  return {
    ...{ resource: resource.name, uri: define(resource, config.scheme).uri, upstream, ok: false, notRead },
    ...{ ms: 0, pages: 0, items: 0, excluded: 0, dropped: 0, extraRequests: 0 },
    ...{ signs: [], emptyFields: [], warnings: [], notTried: [], suggestions: [] },
  };
}

interface ExperimentsOptions extends Pick<Subject, 'resource' | 'settings'> {
  readonly loaded: LoadedConfig;
  readonly exchanges: Exchanges;
  readonly trials: ReturnType<typeof createTrials>;
  readonly seen: Pick<Subject, 'received' | 'items' | 'defaulted'>;
  readonly onExperiment: (name: string) => void;
}

async function experimentsOn({
  resource,
  settings,
  loaded,
  exchanges,
  trials,
  seen,
  onExperiment,
}: ExperimentsOptions) {
  const { page, headers = {}, request } = exchanges.firstPage ?? {};
  const first = page && lookAt(page, headers, settings);
  const credential = loaded.config.upstreams[settings.upstream]?.credential;
  if (first === undefined || request === undefined || credential === undefined) return NONE;
  const isWritten = (key: string) => loaded.isWritten(['resources', resource.name, key]);
  const { attempt } = trials;
  return runExperiments({ resource, settings, credential, isWritten, request, first, attempt, ...seen }, onExperiment);
}

function describeDoubt({ finding, field = '' }: Parameters<NonNullable<Events['mappingDoubted']>>[0]): Warning {
  const found: MappingFinding = finding === 'field_empty' ? { finding, field } : { finding };
  return { ...found, text: describeFinding(found) };
}

/** The outcome of a read: an error of the table is one, too. */
async function settle(read: Load | Promise<Load>): Promise<Load | GatewayError> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

function itemsOf({ snapshot }: Load): readonly Readonly<Record<string, string>>[] {
  return JSON.parse(snapshot.bytes.toString('utf8'));
}

function emptyFields({ shape }: Resource, items: readonly Readonly<Record<string, string>>[]): string[] {
  if (items.length === 0) return [];
  return Object.keys(shape.shape).filter((field) => items.every((item) => item[field] === ''));
}

/** The first request, and the response that brought the first page, or else the last one. */
function describeExchange(
  { first, firstPage, last }: Exchanges,
  masks: Masks,
): Pick<ResourceReport, 'request' | 'response'> {
  const answered = firstPage ?? last;
  return {
    ...(first !== undefined && { request: masks.show(first.request) }),
    ...(answered !== undefined && { response: describeResponse(answered, masks) }),
  };
}

function describeResponse({ status, headers, ms }: Exchange, { safe }: Masks): NonNullable<ResourceReport['response']> {
  return { status, contentType: safe([headers['content-type'] ?? ''].flat().join(', '), 100), ms: rounded(ms) };
}

interface PageLook {
  readonly exchanges: Exchanges;
  readonly masks: Masks;
  readonly attempt: Try;
  /** Why the read failed; `undefined` where it did not. */
  readonly failed: GatewayError | undefined;
}

/** The first item of the first page, and what the page looks like. */
async function describePage(
  resource: Resource,
  settings: ResourceConfig,
  { exchanges, masks, attempt, failed }: PageLook,
): Promise<Pick<ResourceReport, 'first' | 'signs' | 'suggestions'>> {
  const { page: bytes, headers = {} } = exchanges.firstPage ?? {};
  const parsed = bytes && parse(bytes, settings.items);
  if (parsed === undefined) return { signs: [], suggestions: [] };
  const { body, page } = parsed;
  const first = page && firstItemOf(page, settings, requiredFields(resource));
  // After a mapping error, and where the pages add up, paging is not at fault.
  const isPagingInDoubt =
    failed !== undefined &&
    PAGING_CODES.includes(failed.code) &&
    mapsAll(exchanges.bodies, settings, requiredFields(resource));
  const looks = { body, headers, count: page?.items.length, isPagingInDoubt };
  const suggestions = (await suggestSettings(resource.name, settings, looks, attempt)).map(
    ({ setting, value, why }) => ({
      setting,
      value: masks.safe(value, 500),
      why: masks.safe(why, 500),
    }),
  );
  const signs = statementsOf(page?.enclosing ?? [], headers).map((statement) => describeSign(statement, masks));
  return { signs, ...(first !== undefined && { first: safeItem(first, masks) }), suggestions };
}

/** Codes of reads that fail because of their paging. */
const PAGING_CODES: readonly string[] = ['upstream_invalid', 'upstream_refused'];

/** Whether the items of all pages that came can be mapped, and some of them are served. */
function mapsAll(bodies: readonly Buffer[], settings: ResourceConfig, required: readonly string[]): boolean {
  const map = createMapper({ ...settings, required });
  let counts = NO_COUNTS;
  try {
    for (const body of bodies) {
      const page = parse(body, settings.items)?.page;
      if (page !== undefined) counts = addCounts(counts, { ...map(page), repeatedIds: 0 });
    }
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
  const isLeft = counts.received === 0 || counts.excluded + counts.dropped < counts.received;
  return isLeft && !(settings.strictMapping && findingsOf(counts).length > 0);
}

/** The body of a page, and the page where its items are where settings say; `undefined` for what is no JSON. */
function parse(bytes: Buffer, items: string): { readonly body: unknown; readonly page?: Page } | undefined {
  let body: unknown;
  try {
    const text = textOf(bytes);
    body = JSON.parse(text);
    return { body, page: createPageParser({ items })(text) };
  } catch (error) {
    if (!(error instanceof GatewayError || error instanceof SyntaxError)) throw error;
    return body === undefined ? undefined : { body };
  }
}

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

/** To a tenth of a millisecond. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
