import { errorWithDetail, GatewayError } from '../kernel/errors.ts';
import { type Catalogue, mayRead } from '../reads/catalogue/catalogue.ts';
import type { Representations } from '../reads/representations/representations.ts';
import type { Load } from '../reads/snapshots/load.ts';
import { flawOfClient } from './envelope.ts';
import { createProvenance, isKnown, stalenessOf } from './provenance.ts';
import { type MethodHandler, type Result, resultOf } from './request-context.ts';
import { CURRENT, EARLIER, EARLIER_REVISIONS, type Revision } from './revisions.ts';
import { createSubscriptions, type SubscriptionsOptions } from './subscriptions.ts';
import { createTools, type ToolsOptions } from './tools/tool-calls.ts';

export interface MethodsOptions extends SubscriptionsOptions, Omit<ToolsOptions, 'catalogue' | 'provenance'> {
  readonly representations: Representations;
  /** Whether messages can be sent outside of responses. @default false */
  readonly canNotify?: boolean;
  /** Whether lists also have what a caller cannot read. @default false */
  readonly publicLists?: boolean;
  readonly tools: boolean;
  readonly version: string;
}

/** Lists for all callers change only with a release or its settings, so clients can cache them. */
const LIST_TTL_MS = 3_600_000;

/** Members of the parameters of `initialize`. */
const INITIALIZE = { revision: 'protocolVersion', capabilities: 'capabilities', client: 'clientInfo' };

const TOOLS_HINT = 'The tools return the same lists page by page, with filters.';

/** All methods by revision, and whether they are public. */
export function createMethods(options: MethodsOptions) {
  const { catalogue, readResource, representations, canNotify = false, publicLists = false, now } = options;
  const server = { name: 'portico', title: 'Portico', version: options.version };
  const provenance = createProvenance(catalogue.offered);
  const tools = options.tools ? createTools({ ...options, provenance }) : undefined;
  const { listen, forConnections } = createSubscriptions(options);
  const offering = (canReport: boolean) => ({
    capabilities: { resources: options.watch && canReport ? { subscribe: true } : {}, ...(tools && { tools: {} }) },
    instructions: tools ? `${resourcesHint(catalogue)} ${TOOLS_HINT}` : resourcesHint(catalogue),
  });
  // `name` is for programs and `title` for people, unlike in the HTTP list.
  const resources = catalogue.offered.map(({ resource, definition: { uri, name, description, mimeType } }) => ({
    ...{ uri, name: resource.name, title: name, description, mimeType },
    annotations: { audience: ['user', 'assistant'] },
  }));
  const isForAll = publicLists || catalogue.offered.every(({ requiredScopes }) => requiredScopes.length === 0);
  /** Constant JSON before the text of each resource. */
  const heads = new Map(
    resources.map(({ uri, name, mimeType }) => {
      return [name, `"contents":[${JSON.stringify({ uri, mimeType }).slice(0, -1)},"text":`];
    }),
  );

  function methodsOf(revision: Revision): ReadonlyMap<string, MethodHandler> {
    /** Lifetime of a result at the client; earlier revisions have none. */
    const cacheable = (ttlMs: number) => (revision === CURRENT ? { ttlMs, cacheScope: 'private' } : {});

    /** Lists what the caller can read, once for each such set. It fits on one page, so no cursor was ever issued. */
    const list = (membersFor: (names: ReadonlySet<string>) => object): MethodHandler => {
      const results = new Map<string, Result>();
      return async ({ cursor }, { caller }) => {
        if (cursor !== undefined)
          throw errorWithDetail('invalid_params', 'There is no such cursor: this list has one page.');
        const shown = catalogue.offered.filter((one) => isForAll || mayRead(one, caller));
        const names = new Set(shown.map(({ resource }) => resource.name));
        const key = [...names].join();
        const result = results.get(key) ?? resultOf({ ...membersFor(names), ...cacheable(isForAll ? LIST_TTL_MS : 0) });
        results.set(key, result);
        return result;
      };
    };

    const read: MethodHandler = async (params, context) => {
      const { uri } = params;
      if (typeof uri !== 'string' || uri === '') {
        throw new GatewayError('uri_missing', { detail: 'Name the resource to read in params.uri.' });
      }
      const name = catalogue.find(uri);
      const load = await readResource(name, context);
      const ttl = revision === CURRENT ? `"ttlMs":${remainingTtlMs(load, now())},"cacheScope":"private",` : '';
      const meta = provenance(name, load, stalenessOf(load, now()));
      if (isKnown(load.snapshot, params))
        return { meta: `${meta},"portico/notModified":true`, jsonHead: ttl, jsonTail: '"contents":[]}}' };
      return { meta, jsonHead: `${ttl}${heads.get(name)}`, jsonTail: await representations.escaped(load) };
    };

    return new Map<string, MethodHandler>([
      ['resources/list', list((names) => ({ resources: resources.filter(({ name }) => names.has(name)) }))],
      ['resources/templates/list', list(() => ({ resourceTemplates: [] }))],
      ['resources/read', read],
      ...(tools === undefined
        ? []
        : ([
            ['tools/list', list((names) => ({ tools: tools.list(names) }))],
            ['tools/call', tools.call],
          ] as const)),
    ]);
  }

  const offered = offering(canNotify);
  const initialize: MethodHandler = async (params) => {
    const flaw = flawOfClient(params, INITIALIZE);
    if (flaw !== undefined) throw errorWithDetail('invalid_params', `params.${flaw}: Is missing, or of another type.`);
    const { protocolVersion: requested } = params;
    const protocolVersion = EARLIER_REVISIONS.includes(requested) ? requested : EARLIER;
    return resultOf({ protocolVersion, ...offered, serverInfo: server });
  };

  const discovered = resultOf({
    ...{ supportedVersions: [CURRENT], ...offering(true), ttlMs: 0, cacheScope: 'private' },
  });

  const methods: Readonly<Record<Revision, ReadonlyMap<string, MethodHandler>>> = {
    [CURRENT]: new Map([
      ...methodsOf(CURRENT),
      ['server/discover', async () => discovered],
      ['subscriptions/listen', listen],
    ]),
    [EARLIER]: new Map([
      ...methodsOf(EARLIER),
      ...forConnections,
      ['initialize', initialize],
      ['ping', async () => resultOf({})],
    ]),
  };
  return { server, methods, tools: tools?.names ?? new Set<unknown>() };
}

function resourcesHint({ offered }: Pick<Catalogue, 'offered'>): string {
  const lists = offered.map(({ definition: { description } }) => description).join(' ');
  return `Read-only lists of a security platform. ${lists} Each is read whole as a resource.`;
}

function remainingTtlMs({ cached }: Load, now: number): number {
  if (cached === undefined || cached.error !== undefined) return 0;
  return Math.max(0, Math.floor(cached.freshUntil - now));
}
