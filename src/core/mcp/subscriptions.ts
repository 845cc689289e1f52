import { errorWithDetail, GatewayError } from '../kernel/errors.ts';
import { isObject } from '../kernel/json-shape.ts';
import type { Catalogue, ChangedList, Watch } from '../reads/catalogue/catalogue.ts';
import type { JSONRPCNotification } from './message.ts';
import { type MethodHandler, type RequestContext, resultOf } from './request-context.ts';
import { META } from './revisions.ts';

export interface SubscriptionsOptions {
  readonly catalogue: Pick<Catalogue, 'offered' | 'find' | 'read'>;
  /** Reports changes of lists. @default none are reported */
  readonly watch?: Watch | undefined;
}

/** Length of the id of a subscription, which each notification repeats. */
const MAX_ID = 256;

/** Methods that report changes, of 2026-07-28 (`listen`) and of earlier revisions. */
export function createSubscriptions({ catalogue, watch }: SubscriptionsOptions) {
  const uris = new Map(catalogue.offered.map(({ resource, definition }) => [resource.name, definition.uri]));

  /** Names the tag, with which a tool can be asked for what has changed. */
  function updated({ name, etag }: ChangedList, meta?: Record<string, unknown>): JSONRPCNotification {
    const params = { uri: uris.get(name), _meta: { ...meta, 'portico/etag': etag } };
    return { jsonrpc: '2.0', method: 'notifications/resources/updated', params };
  }

  async function changesOf(resources: readonly string[], context: RequestContext, until: readonly AbortSignal[]) {
    const { caller } = context;
    if (caller === undefined) throw new GatewayError('credential_missing');
    if (watch === undefined || resources.length === 0) return [];
    return watch({ resources, caller, catalogue, until, isLocal: context.notify !== undefined });
  }

  /** A subscription of which nothing is reported ends immediately. */
  const listen: MethodHandler = async ({ notifications }, context, id) => {
    const requested = requestedUris(notifications);
    if (String(id).length > MAX_ID)
      throw errorWithDetail('invalid_params', `An id can have at most ${MAX_ID} characters here.`);
    const watched = [...uris].filter(([, uri]) => watch !== undefined && requested.has(uri));
    const names = watched.map(([name]) => name);
    const accepted = names.length === 0 ? {} : { resourceSubscriptions: watched.map(([, uri]) => uri) };
    const changes = await changesOf(names, context, [context.signal, context.ending]);
    const _meta = { [META.subscription]: id };
    return {
      async stream(send) {
        const method = 'notifications/subscriptions/acknowledged';
        await send({ jsonrpc: '2.0', method, params: { notifications: accepted, _meta } });
        await report(changes, (changed) => send(updated(changed, _meta)));
        return resultOf({}, _meta);
      },
    };
  };

  /** Subscriptions of the connection, by resource. */
  const open = new Map<string, AbortController>();

  const subscribe: MethodHandler = async ({ uri }, context) => {
    const name = resourceOf(uri);
    const { notify, ending } = context;
    if (notify === undefined) {
      const detail = 'Over HTTP, changes are reported by subscriptions/listen of revision 2026-07-28 only.';
      throw errorWithDetail('not_found', detail);
    }
    if (open.has(name)) return resultOf({});
    const subscription = new AbortController();
    const end = () => {
      if (open.get(name) === subscription) open.delete(name);
    };
    open.set(name, subscription);
    const watching = changesOf([name], context, [ending, subscription.signal]);
    // A rejected credential ends it: these revisions have no message for that, and the next read fails.
    watching
      .then((changes) => report(changes, (changed) => notify(updated(changed))))
      .catch(() => {})
      .finally(end);
    await watching;
    return resultOf({});
  };

  const unsubscribe: MethodHandler = async ({ uri }) => {
    const name = resourceOf(uri);
    open.get(name)?.abort();
    open.delete(name);
    return resultOf({});
  };

  function resourceOf(uri: unknown): string {
    if (typeof uri !== 'string') throw new GatewayError('uri_missing', { detail: 'Name the resource in params.uri.' });
    return catalogue.find(uri);
  }

  const forConnections: readonly [string, MethodHandler][] = [
    ['resources/subscribe', subscribe],
    ['resources/unsubscribe', unsubscribe],
  ];
  return { listen, forConnections: watch === undefined ? [] : forConnections };
}

/** Returns the resources whose changes a client asks for. Other kinds of changes are not reported. */
function requestedUris(notifications: unknown): ReadonlySet<unknown> {
  const { resourceSubscriptions: uris = [] } = Object(notifications);
  const areUris = Array.isArray(uris) && uris.every((uri) => typeof uri === 'string');
  if (!isObject(notifications) || !areUris)
    throw errorWithDetail('invalid_params', 'params.notifications.resourceSubscriptions: Must be a list of URIs.');
  return new Set(uris);
}

/** Sends each change when the last one was sent. */
async function report(
  changes: AsyncIterable<ChangedList> | readonly ChangedList[],
  send: (changed: ChangedList) => Promise<void>,
) {
  for await (const changed of changes) await send(changed);
}
