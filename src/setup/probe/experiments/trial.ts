import { randomUUID } from 'node:crypto';
import type { Config, ResourceConfig } from '../../../core/config/schema/settings.ts';
import { createCore } from '../../../core/core.ts';
import type { Identity } from '../../../core/credentials/authenticate.ts';
import type { CredentialSettings } from '../../../core/credentials/authorize.ts';
import { GatewayError } from '../../../core/kernel/errors.ts';
import { withoutVerification } from '../../../core/local-caller.ts';
import { createMapper } from '../../../core/mapping/mapper.ts';
import { createPageParser } from '../../../core/mapping/page.ts';
import type { Resource } from '../../../core/resources/resource.ts';
import { textOf } from '../../../core/upstream/client/body.ts';
import type { Tap, TappedRequest } from '../../../core/upstream/client/tap.ts';
import { statementsOf } from '../../../core/upstream/signs/statements.ts';
import type { ReplyHeaders } from '../../../core/upstream/upstream.ts';

/** Extra requests for one resource, all experiments together. */
export const MAX_REQUESTS = 24;

/** A page of a trial, in the form in which pages are compared. */
export interface Look {
  readonly count: number;
  /** The ids of the items, and the totals in the page: the same for the same part of the same list. */
  readonly ids: string;
  /** The items as they came. */
  readonly content: string;
}

/** What differs from the settings of the read. */
export interface Variation {
  readonly settings?: Partial<ResourceConfig>;
  readonly credential?: CredentialSettings;
  /** @default 1 */
  readonly maxPages?: number;
}

/** Reads the first pages of the list once more, with a variation. Empty where the platform answered with no list. */
export type Try = (variation: Variation) => Promise<readonly Look[]>;

/** An experiment that showed nothing. `message` holds no text of the platform. */
export class NotTried extends Error {}

/** Statuses that say nothing of what was changed. */
const PASSING = [408, 429, 500, 502, 503, 504];

/** What lets a trial read on where a read would end: only the pages are compared. */
const PERMISSIVE = { strictMapping: false, invalidItems: 'drop', allowEmpty: true, duplicateIds: 'allow' } as const;

/** What is compared of the items of a page; `undefined` for a body that holds no list. */
export function lookAt(body: Buffer, headers: ReplyHeaders, settings: ResourceConfig): Look | undefined {
  try {
    const page = createPageParser(settings)(textOf(body));
    const { id } = settings.fields;
    const map = createMapper({ fields: id === undefined ? {} : { id }, required: ['id'], invalidItems: 'drop' });
    const ids = map(page).items.map((item) => item['id']);
    const content = JSON.stringify(page.items);
    const totals = statementsOf(page.enclosing, headers).flatMap(({ sign, says }) => (sign === 'total' ? [says] : []));
    return { count: page.items.length, ids: JSON.stringify([ids.length > 0 ? ids : content, totals]), content };
  } catch (error) {
    if (error instanceof GatewayError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export interface TrialsOptions {
  readonly config: Config;
  readonly resource: Resource;
  readonly settings: ResourceConfig;
  readonly identity: Identity;
  /** Called with each request before it is sent. */
  readonly onRequest: (request: TappedRequest) => void;
}

/**
 * Trials of one resource: each is a read by a core of its own, as far as `maxPages`, so that a request is made in the way in
 * which a read makes it. No request is repeated. Rejects with {@link NotTried} where there was no telling response.
 */
export function createTrials({ config, resource, settings, identity, onRequest }: TrialsOptions) {
  let requests = 0;
  const upstream = config.upstreams[settings.upstream];

  const attempt: Try = async ({ settings: changed, credential, maxPages = 1 }) => {
    if (upstream === undefined) throw new Error('the settings were not checked');
    if (requests + maxPages > MAX_REQUESTS) throw new NotTried(`it would take more than ${MAX_REQUESTS} requests`);
    const merged = { ...settings, ...changed };
    // Pages alone: the read's own test of the end would stand in place of one.
    const ignoreSigns = [...(merged.pagination.ignoreSigns ?? []), 'fullPage' as const];
    const pagination = { ...merged.pagination, ignoreSigns };
    const own: ResourceConfig = { ...merged, pagination, maxPages, ...PERMISSIVE };
    const others = Object.entries(config.resources).map(([name, each]) => [name, { ...each, enabled: false }] as const);
    const changedUpstream = {
      ...upstream,
      ...(credential && { credential: credential as typeof upstream.credential }),
      retry: { ...upstream.retry, attempts: 0 },
    };
    const looks: (Look | undefined)[] = [];
    let status = 0;
    let sent = 0;
    const tap: Tap = (request) => {
      onRequest(request);
      requests += 1;
      const index = sent;
      sent += 1;
      let headers: ReplyHeaders = {};
      return {
        answered(answered, received) {
          status = answered;
          headers = received;
        },
        read(body) {
          looks[index] = lookAt(body, headers, own);
        },
        rest() {},
      };
    };
    const core = createCore(
      withoutVerification({
        ...config,
        upstreams: { ...config.upstreams, [settings.upstream]: changedUpstream },
        resources: { ...Object.fromEntries(others), [resource.name]: own } as Config['resources'],
      }),
      { events: {}, now: Date.now, tap },
    );
    try {
      const caller = { ...identity, requestId: randomUUID() };
      await core.catalogue.read(resource.name, caller, { signal: new AbortController().signal });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      if (status === 0 || (PASSING.includes(status) && looks.length === 0)) {
        throw new NotTried(error.reason ?? error.title);
      }
      // A page that did not come whole shows nothing.
      if (status === 200 && looks.length === 0) throw new NotTried(error.reason ?? error.title);
    } finally {
      await core.close();
    }
    return looks.flatMap((look) => look ?? []);
  };
  return { attempt, requests: () => requests };
}
