import { type Config, checked, type ResourceConfig } from '../../core/config/schema/settings.ts';
import type { CredentialSettings } from '../../core/credentials/authorize.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import { compileExpression } from '../../core/mapping/expressions/expression.ts';
import { createMapper } from '../../core/mapping/mapper.ts';
import { createPageParser, type Page } from '../../core/mapping/page.ts';
import { textOf } from '../../core/upstream/client/body.ts';
import { statementsOf } from '../../core/upstream/hints/statements.ts';
import type { ReplyHeaders, TappedRequest } from '../../core/upstream/upstream.ts';
import { PROBE } from '../input-bounds.ts';
import { readOnce, type SingleReadOptions } from './single-read.ts';

interface Variation {
  readonly settings?: Partial<ResourceConfig>;
  readonly credential?: CredentialSettings;
  /** @default 1 */
  readonly maxPages?: number;
}

/** Reads the first pages of the list again, with a variation. Resolves with no pages if the platform answered with no list. */
export type ReadAgain = (variation: Variation) => Promise<readonly InspectedPage[]>;

/** Thrown by an experiment that shows nothing. The message holds no text of the platform. */
export class NotTried extends Error {}

const TEMPORARY = [408, 429, 500, 502, 503, 504];

/** Lets a trial read pages on which a read would fail, since only the pages are compared. */
const PERMISSIVE = { invalidItems: 'drop', allowEmpty: true, duplicateIds: 'allow' } as const;

type VariedReadsOptions = Omit<SingleReadOptions, 'events'> & { readonly settings: ResourceConfig };

/** Trials are reads, with bounded `maxPages` and no retries. Rejects with {@link NotTried} if no response shows anything. */
export function createVariedReads({ settings, onRequest, ...read }: VariedReadsOptions) {
  let requests = 0;
  const count = (request: TappedRequest) => {
    requests += 1;
    onRequest(request);
  };

  const readAgain: ReadAgain = ({ settings: changed, credential, maxPages = 1 }) => {
    if (requests + maxPages > PROBE.requests) throw new NotTried(`it needs more than ${PROBE.requests} requests`);
    const merged = { ...settings, ...changed };
    // A full page without a next one is an error in a read; here the pages alone count.
    const ignoreSigns = [...(merged.pagination.ignoreSigns ?? []), 'fullPage' as const];
    const own = { ...merged, pagination: { ...merged.pagination, ignoreSigns }, maxPages, ...PERMISSIVE };
    const config = variedConfig(read.config, read.resource, own, credential);
    return readOnce({ ...read, config, onRequest: count }, ({ outcome, sent, answered, pages }) => {
      const status = answered.at(-1)?.status ?? 0;
      const isUnrelated = pages === 0 && (status === 200 || TEMPORARY.includes(status));
      if (outcome instanceof GatewayError && (status === 0 || isUnrelated)) {
        throw new NotTried(outcome.reason ?? outcome.title);
      }
      const seen = sent.flatMap(({ page, headers }) => (page && inspectPage(page, headers, own)) ?? []);
      return seen.length === 0 && !(outcome instanceof GatewayError) ? [NO_LIST] : seen;
    });
  };
  return { readAgain, requests: () => requests };
}

function variedConfig(config: Config, resource: string, own: ResourceConfig, credential?: CredentialSettings): Config {
  const upstream = checked(config.upstreams[own.upstream]);
  const retry = { ...upstream.retry, attempts: 0 };
  const varied = { ...upstream, ...(credential && { credential: credential as typeof upstream.credential }), retry };
  return {
    ...config,
    upstreams: { ...config.upstreams, [own.upstream]: varied },
    resources: { ...config.resources, [resource]: own },
  };
}

/** Parses a page as the read does; `undefined` if the read refuses it. */
export function parsePage(bytes: Buffer, settings: ResourceConfig): Page | undefined {
  try {
    return createPageParser(settings)(textOf(bytes));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return undefined;
  }
}

export interface InspectedPage {
  readonly count: number;
  /** The ids of the items and the totals of the page: equal for the same part of the same list. */
  readonly ids: string;
  readonly content: string;
  /** How the platform writes that the list is empty. */
  readonly emptyAs?: string;
}

/** What a 404 is that settings take for an empty list. */
export const NO_LIST: InspectedPage = { count: 0, ids: '', content: '[]', emptyAs: 'status 404' };

export function inspectPage(bytes: Buffer, headers: ReplyHeaders, settings: ResourceConfig): InspectedPage | undefined {
  const page = parsePage(bytes, settings);
  if (page === undefined) return undefined;
  const { id } = settings.fields;
  const map = createMapper({ fields: id === undefined ? {} : { id }, required: ['id'], invalidItems: 'drop' });
  const ids = map(page).items.map((item) => item['id']);
  const content = JSON.stringify(page.items);
  const totals = statementsOf(page.enclosing, headers).flatMap(({ sign, stated }) =>
    sign === 'total' ? [stated] : [],
  );
  const count = page.items.length;
  const same = JSON.stringify([ids.length > 0 ? ids : content, totals]);
  return { count, ids: same, content, ...(count === 0 && { emptyAs: emptyForm(bytes, page, settings) }) };
}

function emptyForm(bytes: Buffer, { body }: Page, { items }: ResourceConfig): string {
  if (bytes.length === 0) return 'no body';
  const { evaluate, leadingFields } = compileExpression(items);
  const list = evaluate(body);
  if (list !== null) return list === '' ? 'an empty text' : Array.isArray(list) ? '[]' : '{}';
  let holder: unknown = body;
  for (const lead of leadingFields.slice(0, -1)) holder = Object(holder)[lead];
  const last = leadingFields.at(-1);
  return body === null || last === undefined || Object.hasOwn(Object(holder), last) ? 'null' : 'an absent member';
}
