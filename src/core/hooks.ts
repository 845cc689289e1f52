import type { Config } from './config/schema/settings.ts';
import type { Verify } from './credentials/authenticate.ts';
import type { OpenCredentials } from './credentials/authorize.ts';
import type { Operation } from './http/operations/operation.ts';
import { NO_REQUEST_HOOKS, type RequestHooks } from './http/request-hooks.ts';
import type { TokenSource } from './http/response/problem.ts';
import type { Events } from './kernel/events.ts';
import type { Dispatch } from './mcp/dispatch.ts';
import type { Offered, Watch } from './reads/catalogue/catalogue.ts';
import type { Loader, Read } from './reads/snapshots/load.ts';
import type { Sharing } from './sharing.ts';
import type { OpenConfirmation } from './upstream/paging/list-confirmation.ts';
import type { Upstream } from './upstream/upstream.ts';

/** Each keeps the type of what it wraps; the first capability is outermost. */
export interface Wrappers {
  /**
   * Around each JSON-RPC request.
   *
   * @example
   * wrapDispatch: (dispatch) => (request, revision, context) => {
   *   methods.push(request.method);
   *   return dispatch(request, revision, context);
   * },
   */
  wrapDispatch(dispatch: Dispatch): Dispatch;
  /**
   * Around each verification of a token.
   *
   * @example
   * wrapVerify: (verify) => async (credential, key) => {
   *   const verdict = await verify(credential, key);
   *   return { ...verdict, expiresAt: Math.min(verdict.expiresAt, endOfShift()) };
   * },
   */
  wrapVerify(verify: Verify): Verify;
  /**
   * Around each read of a resource: the cache is inside.
   *
   * @example
   * wrapRead: (read, resource) => (caller, options) => {
   *   reads.push(resource);
   *   return read(caller, options);
   * },
   */
  wrapRead(read: Read, resource: string): Read;
  /**
   * Around each load of a list, which concurrent reads share.
   *
   * @example
   * wrapLoad: (load, resource) => async (caller, signal, options) => {
   *   const loaded = await load(caller, signal, options);
   *   sizes.set(resource, loaded.snapshot.count);
   *   return loaded;
   * },
   */
  wrapLoad(load: Loader, resource: string): Loader;
  /**
   * Around each request for a page of one resource: breaker, queue and retries are inside.
   *
   * @example
   * wrapUpstream: (upstream, resource) => ({
   *   ...upstream,
   *   get: (page, signal) => upstream.get({ ...page, headers: { ...page.headers, 'x-resource': resource } }, signal),
   * }),
   */
  wrapUpstream(upstream: Upstream, resource: string): Upstream;
  /**
   * Around each single request to one upstream, inside breaker, queue and retries.
   *
   * @example
   * wrapClient: (client, baseUrl) => ({
   *   ...client,
   *   get: (page, signal) => client.get(page, signal).finally(() => calls.push(baseUrl)),
   * }),
   */
  wrapClient(client: Upstream, baseUrl: string): Upstream;
}

/** The gateway as it is now. A reload replaces what its members return. */
export interface GatewayState {
  readonly config: Config;
  readonly offered: readonly Offered[];
  /** Headers beside `Authorization` in which callers send credentials. */
  readonly credentialHeaders: readonly string[];
  /** Further headers of callers that select a list. */
  readonly forwardedHeaders: readonly string[];
  /** Path of MCP over HTTP; `undefined` where it is off. */
  readonly mcpPath: string | undefined;
  /** Whether clients can find out where to obtain a token. */
  readonly signsIn: boolean;
}

/** Verifies callers' tokens. */
interface Verifier {
  readonly verify: Verify;
  /** Where clients obtain tokens, for challenges. @default no client can */
  readonly tokenSource?: TokenSource | undefined;
}

/** All hooks: the core calls them at fixed places. */
export interface Hooks extends RequestHooks, Wrappers {
  /**
   * Further paths of the public listener.
   *
   * @example
   * operations: ({ offered }) => [publishedOperation('/offered', { resources: offered.length })],
   */
  operations(state: GatewayState): readonly Operation[];
  /**
   * Further paths of the admin listener.
   *
   * @example
   * adminOperations: ({ config }) => [openOperation('/scheme', () => unstored(config.scheme, 'text/plain'))],
   */
  adminOperations(state: GatewayState): readonly Operation[];
  /**
   * `undefined` where any token is accepted. At most one capability has it.
   *
   * @example
   * verifier: {
   *   verify: async (credential, key) => ({ cacheScope: key, ...(await ask(credential)) }),
   * },
   */
  readonly verifier: Verifier | undefined;
  /**
   * Functions that open credentials, by kind.
   *
   * @example
   * credentials: {
   *   session: (_settings, { upstream }) => ({ authorize: async () => ({ 'x-session': await logIn(upstream) }) }),
   * },
   */
  readonly credentials: OpenCredentials;
  /**
   * `undefined` where no changes of lists are reported. At most one capability has it.
   *
   * @example
   * watch: async ({ resources, until }) => changesOf(resources, AbortSignal.any([...until])),
   */
  readonly watch: Watch | undefined;
  /**
   * `undefined` where lists are taken for complete if no reply says otherwise. At most one capability has it.
   *
   * @example
   * openConfirmation: (resource) => ({
   *   isDue: () => !confirmed.has(resource),
   *   confirm: async ({ items }) => void confirmed.set(resource, items),
   * }),
   */
  readonly openConfirmation: OpenConfirmation | undefined;
  /**
   * `undefined` where replicas share nothing. The last capability that has it contributes it.
   *
   * @example
   * sharing: { ...shareNothing(), keyOf: createKeyOf(secretOfAllReplicas) },
   */
  readonly sharing: Sharing | undefined;
}

/** The contribution of one capability: any of the hooks, listeners of events, and its own start and end. */
export interface Contribution extends Partial<Hooks> {
  /**
   * Receive events, in order.
   *
   * @example
   * listeners: [{ breakerChanged: ({ upstream, state }) => void states.set(upstream, state) }],
   */
  readonly listeners?: readonly Events[];
  /** Called with all settings when a reload has changed any, but none of the capability's own. */
  onReload?(config: Config): void;
  /** Called before a listener opens. Rejects where the gateway must not start. */
  start?(): Promise<void>;
  /** Called after all listeners are closed, in reverse order; has this many milliseconds. */
  stop?(withinMs: number): Promise<void>;
}

type HookName = keyof RequestHooks;

/** Joins contributions in their order. A hook that none of them has does nothing. */
export function composeHooks(contributions: readonly Contribution[]): Hooks {
  const all = <Name extends HookName>(name: Name) =>
    contributions.map((one) => one[name]).filter((hook) => hook !== undefined) as Hooks[Name][];
  type Wrap<T> = (one: Contribution, inner: T, name: string) => T | undefined;
  const wrap =
    <T>(by: Wrap<T>) =>
    (inner: T, name = '') =>
      contributions.reduceRight((wrapped, one) => by(one, wrapped, name) ?? wrapped, inner);
  return {
    onRequest: each(all('onRequest'), NO_REQUEST_HOOKS.onRequest),
    preAuthenticate: each(all('preAuthenticate'), NO_REQUEST_HOOKS.preAuthenticate),
    preVerify: each(all('preVerify'), NO_REQUEST_HOOKS.preVerify),
    onCaller: each(all('onCaller'), NO_REQUEST_HOOKS.onCaller),
    countAgainstLimits: each(all('countAgainstLimits'), NO_REQUEST_HOOKS.countAgainstLimits),
    onSettled: each(all('onSettled'), NO_REQUEST_HOOKS.onSettled),
    wrapRead: wrap((one, read, resource) => one.wrapRead?.(read, resource)),
    wrapDispatch: wrap((one, dispatch) => one.wrapDispatch?.(dispatch)),
    wrapVerify: wrap((one, verify) => one.wrapVerify?.(verify)),
    wrapLoad: wrap((one, load, resource) => one.wrapLoad?.(load, resource)),
    wrapClient: wrap((one, client, baseUrl) => one.wrapClient?.(client, baseUrl)),
    wrapUpstream: wrap((one, upstream, resource) => one.wrapUpstream?.(upstream, resource)),
    operations: (state) => contributions.flatMap((one) => one.operations?.(state) ?? []),
    adminOperations: (state) => contributions.flatMap((one) => one.adminOperations?.(state) ?? []),
    verifier: contributions.find(({ verifier }) => verifier !== undefined)?.verifier,
    credentials: Object.assign({}, ...contributions.map(({ credentials }) => credentials)),
    watch: contributions.find(({ watch }) => watch !== undefined)?.watch,
    openConfirmation: contributions.find(({ openConfirmation }) => openConfirmation !== undefined)?.openConfirmation,
    sharing: contributions.findLast(({ sharing }) => sharing !== undefined)?.sharing,
  };
}

/** The core by itself. */
export const NO_HOOKS: Hooks = composeHooks([]);

type Hook<Args extends unknown[]> = (...args: Args) => void;

function each<Args extends unknown[]>(hooks: readonly Hook<Args>[], none: Hook<Args>): Hook<Args> {
  const [only = none, ...more] = hooks;
  if (more.length === 0) return only;
  return (...args) => {
    for (const hook of hooks) hook(...args);
  };
}
