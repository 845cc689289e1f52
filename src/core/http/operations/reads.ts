import type { Caller } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import type { Catalogue } from '../../reads/catalogue/catalogue.ts';
import type { Representations } from '../../reads/representations/representations.ts';
import { cacheOutcome, type Load } from '../../reads/snapshots/load.ts';
import type { Exchange } from '../exchange.ts';
import { acceptedCodings, requireJsonAccepted } from '../request/negotiate.ts';
import { listHeaders, loadHeaders, respondWithSnapshot } from '../response/snapshot-response.ts';
import type { CallerOperation } from './operation.ts';

export interface ReadsOptions {
  readonly catalogue: Catalogue;
  readonly representations: Representations;
  /** Bodies smaller than this are sent in no coding. */
  readonly compressMinBytes: number;
  /** The longest that a read can take, until its response is ready to be sent. */
  readonly readDeadlineMs: number;
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Names of the headers beside `Authorization` in which callers bring credentials. @default none */
  readonly otherCredentials?: readonly string[] | undefined;
}

/** Header fields by which a read is answered, beside those of `otherCredentials`. */
export const READ_VARY = ['Authorization', 'Accept', 'Accept-Encoding'];

export const LIST_PATH = '/mcp/v1/resources';
export const READ_PATH = '/mcp/v1/resources/read';
const READ = { methods: ['GET', 'HEAD'], takesBody: false, isProbe: false, open: false } as const;

/** The two reads. What is wrong with a request is reported in the order in which their steps stand. */
export function readOperations(options: ReadsOptions): readonly CallerOperation[] {
  const { catalogue, now, otherCredentials = [] } = options;
  const vary = [...READ_VARY, ...otherCredentials].join(', ');
  const spellings = spellingsOf(catalogue);

  async function load(exchange: Exchange, caller: Caller, name: string): Promise<Load> {
    const found = catalogue.read(name, caller, exchange);
    if (!(found instanceof Promise)) return found;
    exchange.waitingSince = performance.now();
    try {
      return await found;
    } finally {
      exchange.endWaiting();
    }
  }

  return [
    {
      ...READ,
      vary,
      path: LIST_PATH,
      respond(exchange) {
        requireJsonAccepted(exchange.fields);
        const codings = acceptedCodings(exchange.fields);
        return respondWithSnapshot(
          exchange,
          { snapshot: catalogue.list },
          { ...options, codings, headers: listHeaders },
        );
      },
    },
    {
      ...READ,
      vary,
      isRead: true,
      path: READ_PATH,
      targets: [...spellings.keys()].map((query) => `${READ_PATH}?${query}`),
      async respond(exchange, caller) {
        const name = catalogue.find(uriIn(exchange.target?.query ?? '', spellings));
        exchange.resource = name;
        requireJsonAccepted(exchange.fields);
        const codings = acceptedCodings(exchange.fields);
        const loaded = await load(exchange, caller, name);
        exchange.upstreamMs = loaded.upstreamMs;
        exchange.cache = cacheOutcome(loaded, now());
        exchange.staleFor = loaded.cached?.error;
        return respondWithSnapshot(exchange, loaded, {
          ...options,
          codings,
          headers: () => loadHeaders(loaded, now()),
        });
      },
    },
  ];
}

/** The URIs by the queries in which nearly all clients ask for them. */
function spellingsOf({ offered }: Catalogue): ReadonlyMap<string, string> {
  return new Map(
    offered.flatMap(({ definition: { uri } }) => [
      [`uri=${uri}`, uri],
      [`uri=${encodeURIComponent(uri)}`, uri],
    ]),
  );
}

/** The one `uri` of a query. What is spelled as most do it is not taken apart again. */
function uriIn(query: string, spellings: ReadonlyMap<string, string>): string {
  const known = spellings.get(query);
  if (known !== undefined) return known;
  const [uri, ...others] = new URLSearchParams(query).getAll('uri');
  if (others.length > 0) throw new GatewayError('uri_repeated');
  if (uri === undefined || uri === '') throw new GatewayError('uri_missing');
  return uri;
}
