import { randomUUID } from 'node:crypto';
import type { LoadedConfig } from '../../config/load-config.ts';
import { type ResourceConfig, resourceConfig } from '../../config/schema/settings.ts';
import { createCore } from '../../core/core.ts';
import type { Identity } from '../../credentials/authenticate.ts';
import { GatewayError } from '../../kernel/errors.ts';
import { describeFinding, type MappingFinding } from '../../mapping/findings.ts';
import { createPageParser, type Page } from '../../mapping/page.ts';
import type { Events } from '../../observability/events.ts';
import { define, type Resource, requiredFields } from '../../resources/resource.ts';
import type { Load } from '../../snapshots/load.ts';
import { textOf } from '../../upstream/client/body.ts';
import type { Tap } from '../../upstream/client/tap.ts';
import { type Statement, statementsOf } from '../../upstream/signs/statements.ts';
import { forWhoeverRunsIt } from '../identity.ts';
import { describeError } from './describe-error.ts';
import { type Exchange, type Exchanges, recordExchanges } from './exchanges.ts';
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
}

/**
 * Reads one resource as `portico serve` would, from its first read on, and tells what went over the wire and what was made of
 * it. It takes the way of a read itself: nothing is decided here that the read decides.
 */
export async function probeResource(resource: Resource, options: ProbeResourceOptions): Promise<ResourceReport> {
  const { loaded, identity, onPage } = options;
  const settings = resourceConfig(loaded.config, resource);
  const masks = createMasks(loaded, resource.name, settings);
  const exchanges = recordExchanges(onPage);
  const counts = { excluded: 0, dropped: 0 };
  const warnings: Warning[] = [];
  const events: Events = {
    listLoaded: ({ excluded, dropped }) => Object.assign(counts, { excluded, dropped }),
    mappingDoubted: (doubted) => warnings.push(describeDoubt(doubted)),
  };
  const tap: Tap = (request) => {
    masks.learn(request);
    return exchanges.tap(request);
  };
  const core = createCore(forWhoeverRunsIt(loaded.config), { events, now: Date.now, tap });
  const begun = performance.now();
  try {
    const caller = { ...identity, requestId: randomUUID() };
    const outcome = await settle(core.catalogue.read(resource.name, caller, { signal: new AbortController().signal }));
    const ms = rounded(performance.now() - begun);
    const items = outcome instanceof GatewayError ? undefined : itemsOf(outcome);
    const page = describePage(resource, settings, { exchanges, masks, ok: items !== undefined });
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
      warnings,
      ...(failed !== undefined && { error: failed }),
      ...page,
    };
  } finally {
    await core.close();
  }
}

function describeDoubt({ field }: Parameters<NonNullable<Events['mappingDoubted']>>[0]): Warning {
  const found: MappingFinding =
    field === undefined ? { finding: 'where_drops_all' } : { finding: 'field_empty', field };
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
  readonly ok: boolean;
}

/** The first item of the first page, and what the page looks like. */
function describePage(
  resource: Resource,
  settings: ResourceConfig,
  { exchanges, masks, ok }: PageLook,
): Pick<ResourceReport, 'first' | 'signs' | 'suggestions'> {
  const { page: bytes, headers = {} } = exchanges.firstPage ?? {};
  const parsed = bytes && parse(bytes, settings.items);
  if (parsed === undefined) return { signs: [], suggestions: [] };
  const { body, page } = parsed;
  const first = page && firstItemOf(page, settings, requiredFields(resource));
  const looks = { body, headers, count: page?.items.length, ok };
  const suggestions = suggestSettings(resource.name, settings, looks).map(({ setting, value, why }) => ({
    setting,
    value: masks.safe(value, 500),
    why: masks.safe(why, 500),
  }));
  const signs = statementsOf(page?.enclosing ?? [], headers).map((statement) => describeSign(statement, masks));
  return { signs, ...(first !== undefined && { first: safeItem(first, masks) }), suggestions };
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
