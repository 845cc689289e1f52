import type { Config } from './config/schema/settings.ts';
import type { Operation } from './http/operations/operation.ts';
import type { RequestHooks } from './http/request-hooks.ts';
import type { Events } from './kernel/events.ts';
import type { Read } from './reads/snapshots/load.ts';
import type { Upstream } from './upstream/upstream.ts';

/** Figures that are read when metrics are scraped or the status is shown. */
export interface Readings {
  /** Lines of the audit file that were dropped since the start. */
  droppedAuditLines(): number;
}

/** Functions that a capability puts one concern around. Each keeps the type of what it wraps; the first capability is outermost. */
export interface Wrappers {
  /** Around a read of one resource, by either edge. */
  wrapRead(read: Read, resource: string): Read;
  /** Around each request for a page to one upstream: breaker, queue and retries are inside. */
  wrapUpstream<U extends Upstream>(upstream: U): U;
}

/** What the core calls at fixed places. */
export interface Hooks extends RequestHooks, Wrappers {
  /** Endpoints of the public listener, beside those of the core. */
  readonly operations: readonly Operation[];
  /** Endpoints of the admin listener. */
  readonly adminOperations: readonly Operation[];
  readonly readings: Partial<Readings>;
  /** Opens files anew after a log rotation (SIGUSR2). Returns whether there was one. */
  reopenFiles(): boolean;
  /** Called with the settings of the core whenever a reload has changed them. */
  onReload(config: Config): void;
}

/** What one capability contributes: any of the hooks, listeners of events, and its own start and end. */
export interface Contribution extends Partial<Hooks> {
  readonly listeners?: readonly Events[];
  /** Called before a listener opens. Rejects where the gateway must not start. */
  start?(): Promise<void>;
  /** Called after all listeners are closed, in reverse order; has this many milliseconds. */
  stop?(withinMs: number): Promise<void>;
}

type HookName = Exclude<keyof RequestHooks, 'wrapHandler'> | 'onReload' | 'reopenFiles';

/** Joins contributions in their order. A hook that none of them has does nothing. */
export function composeHooks(contributions: readonly Contribution[]): Hooks {
  /** Of all that have it. */
  const all = <Name extends HookName>(name: Name) =>
    contributions.map((one) => one[name]).filter((hook) => hook !== undefined) as Hooks[Name][];
  const reopen = all('reopenFiles');
  return {
    onRequest: each(all('onRequest')),
    preAuthenticate: inOrder(all('preAuthenticate')),
    preVerify: inOrder(all('preVerify')),
    onCaller: each(all('onCaller')),
    spend: inOrder(all('spend')),
    onSettled: each(all('onSettled')),
    onReload: each(all('onReload')),
    wrapHandler: (handle) => contributions.reduceRight((inner, one) => one.wrapHandler?.(inner) ?? inner, handle),
    wrapRead: (read, resource) =>
      contributions.reduceRight((inner, one) => one.wrapRead?.(inner, resource) ?? inner, read),
    wrapUpstream: (upstream) => contributions.reduceRight((inner, one) => one.wrapUpstream?.(inner) ?? inner, upstream),
    operations: contributions.flatMap(({ operations = [] }) => operations),
    adminOperations: contributions.flatMap(({ adminOperations = [] }) => adminOperations),
    readings: Object.assign({}, ...contributions.map(({ readings }) => readings)),
    reopenFiles: () => reopen.map((open) => open()).includes(true),
  };
}

/** Hooks that do nothing: the core by itself. */
export const NO_HOOKS: Hooks = composeHooks([]);

function each<Args extends unknown[]>(hooks: readonly ((...args: Args) => void)[]): (...args: Args) => void {
  const [only = () => {}, ...more] = hooks;
  if (more.length === 0) return only;
  return (...args) => {
    for (const hook of hooks) hook(...args);
  };
}

type AsyncHook<Args extends unknown[]> = (...args: Args) => Promise<void> | void;

function inOrder<Args extends unknown[]>(hooks: readonly AsyncHook<Args>[]): AsyncHook<Args> {
  const [only = () => {}, ...more] = hooks;
  if (more.length === 0) return only;
  return async (...args) => {
    for (const hook of hooks) await hook(...args);
  };
}
