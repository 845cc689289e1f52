import type { LoadedConfig } from '../../core/config/load-config.ts';
import { assertDefined, resourceConfig } from '../../core/config/schema/settings.ts';
import type { Identity } from '../../core/credentials/authenticate.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import { rounded } from '../../core/log/logger.ts';
import { describeFinding } from '../../core/mapping/mapper.ts';
import { define, type Resource, requiredFields } from '../../core/resources/resource.ts';
import type { Statement } from '../../core/upstream/hints/statements.ts';
import type { TappedRequest } from '../../core/upstream/upstream.ts';
import { firstItemOf } from './first-item.ts';
import { inspectPage, NO_LIST } from './inspected-page.ts';
import { type ListPart, partsOf, settingsOf } from './list-parts.ts';
import { createMasks, type Masks } from './masks.ts';
import { runExperiments } from './probe-experiments.ts';
import type { ResourceReport, Warning } from './probe-report.ts';
import type { ListSubject } from './read-doubts.ts';
import { describeFailure } from './read-failure.ts';
import type { SafeText } from './safe-text.ts';
import { type Exchange, readOnce, type SingleRead } from './single-read.ts';
import { createVariedReads } from './varied-reads.ts';

interface ProbeResourceOptions {
  readonly loaded: LoadedConfig;
  readonly identity: Identity;
  readonly allowPost: boolean;
}

/** Reads one resource as `portico serve` does, and reports the exchange and the result. */
export async function probeResource(resource: Resource, options: ProbeResourceOptions): Promise<ResourceReport> {
  const { loaded, identity, allowPost } = options;
  const { config } = loaded;
  const { name } = resource;
  const settings = resourceConfig(config, resource);
  const { upstream, each, lists } = settings;
  const named = { resource: name, uri: define(resource, config.scheme).uri, upstream, ok: false };
  const counts = { ms: 0, pages: 0, items: 0, excluded: 0, dropped: 0, extraRequests: 0 };
  const nothing = { signs: [], emptyFields: [], warnings: [], notTried: [] };
  if (settings.method === 'POST' && !settings.retryPost && !allowPost) {
    const notRead = `it needs a POST, which may write: --allow-post sends it, and resources.${name}.retryPost: true declares that it changes nothing`;
    return { ...named, notRead, ...counts, ...nothing };
  }
  const masks = createMasks(loaded, name, settings);
  const { safe, learn: onRequest } = masks;
  const { events, seen, warnings } = observe();
  const { baseUrl, credential } = assertDefined(config.upstreams[upstream]);
  const parts = partsOf(resource, loaded);
  const partOf = ({ target }: TappedRequest) => parts.find((part) => settingsOf(part.settings, baseUrl, target));
  const isOfList = (request: TappedRequest) => {
    const part = partOf(request);
    return each === undefined || (part !== undefined && part.list !== 'each');
  };
  const startedAt = performance.now();
  return readOnce({ config, resource: name, identity, onRequest, isOfList, events }, async (read) => {
    const { outcome, sent } = read;
    const { received, defaulted, excluded, dropped } = seen;
    // Those of experiments of the read itself are not counted.
    const pages = seen.pages || sent.filter(({ bytes }) => bytes !== undefined).length;
    const exchange = firstPage(read);
    const ofFirst = (exchange && partOf(exchange.request)?.settings) ?? settings;
    const inspected = exchange?.page === undefined ? NO_LIST : inspectPage(exchange.page, exchange.headers, ofFirst);
    const first = inspected?.page && firstItemOf(inspected.page, settings, requiredFields(resource), safe);
    const report = {
      ...{ ...named, ...describeExchange(read, masks), ...counts, ...nothing },
      ...{ ms: rounded(performance.now() - startedAt), pages, excluded, dropped, warnings },
      signs: signsOf(inspected?.statements ?? [], safe),
      ...(first && { first }),
    };
    if (outcome instanceof GatewayError) {
      return { ...report, error: await describeFailure(outcome, read, safe, first !== undefined) };
    }
    const served: readonly Readonly<Record<string, string>>[] = JSON.parse(outcome.snapshot.bytes.toString('utf8'));
    let extraRequests = 0;
    const countRequest = (request: TappedRequest) => {
      extraRequests += 1;
      onRequest(request);
    };

    /** Reads a list by itself, as it is below the parent of which the largest page came. */
    async function open(part: ListPart): Promise<ListSubject | undefined> {
      const [largest] = sent
        .flatMap(({ bytes, request }) => {
          const own = bytes !== undefined && settingsOf(part.settings, baseUrl, request.target);
          return own ? [{ bytes, request, own }] : [];
        })
        .toSorted((a, b) => b.bytes - a.bytes);
      if (largest === undefined || inspected === undefined) return undefined;
      const { request, own } = largest;
      const readAgain = createVariedReads({ config, settings: own, identity, resource: name, onRequest: countRequest });
      const isAlone = each === undefined && lists === undefined;
      const read = isAlone ? [inspected] : await readAgain({ maxPages: 2 });
      const count = isAlone ? received : read.reduce((sum, page) => sum + page.count, 0);
      const subject = { ...part, resource, credential, settings: own, request, received: count, readAgain };
      return read[0] && { ...subject, first: read[0] };
    }

    const subject = inspected && { resource, settings, served, received, defaulted, first: inspected };
    const { findings, notTried } = await runExperiments(subject, parts, open);
    return {
      ...report,
      ok: true,
      items: served.length,
      emptyFields: emptyFields(resource, served),
      warnings: [...warnings, ...findings.map((found) => ({ ...found, text: safe(found.text, 500) }))],
      extraRequests,
      notTried,
      ...(each !== undefined && { maxPages: settings.maxPages, maxParents: settings.maxParents }),
    };
  });
}

function observe() {
  const defaulted: ReadonlyMap<string, number> = new Map();
  const seen = { pages: 0, excluded: 0, dropped: 0, received: 0, defaulted };
  const warnings: Warning[] = [];
  const events: Events = {
    listLoaded: ({ pages, excluded, dropped, received, defaulted }) => {
      Object.assign(seen, { pages, excluded, dropped, received, defaulted });
    },
    mappingWarning: ({ finding, field }) => {
      const found = { finding, ...(field !== undefined && { field }) };
      warnings.push({ ...found, text: describeFinding(found) });
    },
  };
  return { events, seen, warnings };
}

function emptyFields({ shape }: Resource, items: readonly Readonly<Record<string, string>>[]): string[] {
  if (items.length === 0) return [];
  return Object.keys(shape.shape).filter((field) => items.every((item) => item[field] === ''));
}

/** The first page of the list itself, which comes after those of its parents; theirs if there is none. */
function firstPage({ sent }: SingleRead): Exchange | undefined {
  const pages = sent.filter(({ page }) => page !== undefined);
  return pages.find(({ isOfList }) => isOfList) ?? pages[0];
}

function describeExchange(read: SingleRead, masks: Masks): Pick<ResourceReport, 'request' | 'response'> {
  const first = read.sent.find(({ isOfList }) => isOfList) ?? read.sent[0];
  const { status, headers, ms } = firstPage(read) ?? read.answered.at(-1) ?? {};
  const contentType = masks.safe([headers?.['content-type'] ?? ''].flat().join(', '), 100);
  return {
    ...(first && { request: masks.show(first.request) }),
    ...(status !== undefined && { response: { status, contentType, ms: rounded(ms ?? 0) } }),
  };
}

/** Describes what the first page says about further ones. */
function signsOf(statements: readonly Statement[], safe: SafeText): string[] {
  return statements
    .filter(({ sign }) => sign !== 'token' && sign !== 'previous')
    .map(({ name, path, stated }) => {
      const where = safe(path ?? `the header ${name}`, 100);
      return `${where}: ${typeof stated === 'number' ? stated : stated ? 'more items' : 'no more items'}`;
    });
}
