import type { LoadedConfig } from '../../core/config/load-config.ts';
import { checked, type ResourceConfig, resourceConfig } from '../../core/config/schema/settings.ts';
import type { Identity } from '../../core/credentials/authenticate.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import { rounded } from '../../core/log/logger.ts';
import { describeFinding } from '../../core/mapping/mapper.ts';
import { define, type Resource } from '../../core/resources/resource.ts';
import type { TappedRequest } from '../../core/upstream/upstream.ts';
import { inspectPage, NO_LIST } from './inspected-page.ts';
import { type ListPart, partsOf, settingsOf } from './list-parts.ts';
import { createMasks, type Masks } from './masks.ts';
import { describePage } from './page-report.ts';
import { runExperiments } from './probe-experiments.ts';
import type { ResourceReport, Warning } from './probe-report.ts';
import type { Subject } from './read-doubts.ts';
import { describeFailure, errorKeys } from './read-failure.ts';
import { type Exchange, readOnce, type SingleRead } from './single-read.ts';
import { createVariedReads } from './varied-reads.ts';

interface ProbeResourceOptions {
  readonly loaded: LoadedConfig;
  readonly identity: Identity;
  readonly allowPost: boolean;
}

const UNREAD = {
  ...{ ok: false, ms: 0, pages: 0, items: 0, excluded: 0, dropped: 0, extraRequests: 0 },
  ...{ signs: [], emptyFields: [], warnings: [], notTried: [] },
} as const;

/** Reads one resource as `portico serve` does, and reports the exchange and the result. */
export async function probeResource(resource: Resource, options: ProbeResourceOptions): Promise<ResourceReport> {
  const { loaded, identity, allowPost } = options;
  const { config } = loaded;
  const { name } = resource;
  const settings = resourceConfig(config, resource);
  const { upstream } = settings;
  const report = { ...UNREAD, resource: name, uri: define(resource, config.scheme).uri, upstream };
  if (settings.method === 'POST' && !settings.retryPost && !allowPost) {
    const notRead = `it needs a POST, which may write: --allow-post sends it, and resources.${name}.retryPost: true declares that it changes nothing`;
    return { ...report, notRead };
  }
  const masks = createMasks(loaded, name, settings);
  const { safe, learn: onRequest } = masks;
  const { events, seen, warnings } = observe();
  const { baseUrl, credential } = checked(config.upstreams[upstream]);
  const parts = partsOf(resource, loaded);
  const partOf = ({ target }: TappedRequest) => parts.find((part) => settingsOf(part.settings, baseUrl, target));
  const isOfList = (request: TappedRequest) => {
    const part = partOf(request);
    return settings.each === undefined || (part !== undefined && part.list !== 'each');
  };
  let extraRequests = 0;
  const countRequest = (request: TappedRequest) => {
    extraRequests += 1;
    onRequest(request);
  };
  const vary = (own: ResourceConfig) =>
    createVariedReads({ config, settings: own, identity, resource: name, onRequest: countRequest });
  const begun = performance.now();
  return readOnce({ config, resource: name, identity, onRequest, isOfList, events }, async (read) => {
    const { outcome } = read;
    const { received, defaulted, ...counts } = { ...seen, pages: seen.pages || read.pages };
    const ms = rounded(performance.now() - begun);
    const known = { ...report, ...describeExchange(read, masks), ms, ...counts };
    const isAbsent = !(outcome instanceof GatewayError) && settings.notFound === 'empty';
    const exchange = firstPage(read) ?? (isAbsent ? read.sent[0] : undefined);
    const { page: bytes, headers = {} } = exchange ?? {};
    const ofFirst = (exchange && partOf(exchange.request)?.settings) ?? settings;
    const first = bytes === undefined ? NO_LIST : inspectPage(bytes, headers, ofFirst);
    const page = describePage(first ?? NO_LIST, safe, { resource, settings });
    if (outcome instanceof GatewayError) {
      const keys = errorKeys(outcome, name, upstream, config);
      const error = await describeFailure(outcome, read, masks, page.first !== undefined);
      return { ...known, warnings, ...page, extraRequests, error, lookAt: keys };
    }
    const items: readonly Readonly<Record<string, string>>[] = JSON.parse(outcome.snapshot.bytes.toString('utf8'));
    const common = { resource, served: items, defaulted, credential };

    /** Reads a part by itself, as it is below the parent of which the largest page came. */
    async function openPart(part: ListPart): Promise<Subject | undefined> {
      const [largest] = read.sent
        .flatMap(({ bytes: length, request }) => {
          const own = length > 0 && settingsOf(part.settings, baseUrl, request.target);
          return own ? [{ length, request, own }] : [];
        })
        .toSorted((a, b) => b.length - a.length);
      if (largest === undefined) return undefined;
      const { request, own } = largest;
      const readAgain = vary(own);
      const pages = await readAgain({ maxPages: 2 });
      const count = pages.reduce((sum, each) => sum + each.count, 0);
      return pages[0] && { ...common, ...part, settings: own, request, first: pages[0], received: count, readAgain };
    }

    const isJoined = settings.each !== undefined || settings.lists !== undefined;
    const whole = exchange &&
      first && {
        ...{ ...common, ...checked(parts[0]), settings, request: exchange.request },
        ...{ first, received, readAgain: vary(settings) },
      };
    const lists = isJoined
      ? parts.map((part) => ({ list: part.list, open: () => openPart(part) }))
      : [{ list: undefined, open: async () => whole }];
    const { findings, notTried } = whole ? await runExperiments(whole, lists) : { findings: [], notTried: [] };
    return {
      ...known,
      ok: true,
      items: items.length,
      emptyFields: emptyFields(resource, items),
      warnings: [...warnings, ...findings.map((found) => ({ ...found, text: safe(found.text, 500) }))],
      extraRequests,
      notTried,
      ...(settings.each !== undefined && { maxPages: settings.maxPages, maxParents: settings.maxParents }),
      ...page,
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
