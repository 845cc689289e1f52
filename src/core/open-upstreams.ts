import { isDeepStrictEqual } from 'node:util';
import { type Config, checked } from './config/schema/settings.ts';
import type { Authorization } from './credentials/authorize.ts';
import { proxyAuthorization } from './credentials/authorize.ts';
import type { Hooks } from './hooks.ts';
import type { Events } from './kernel/events.ts';
import { LIST_FORMAT } from './kernel/version.ts';
import { type OwnFiles, withFiles } from './own-files.ts';
import { type OpenUpstreamOptions, openUpstream } from './upstream/open-upstream.ts';
import { NO_REJECTION_STORE, type RejectionStore } from './upstream/resilience/with-negative-cache.ts';
import type { Tap } from './upstream/upstream.ts';

export type OpenUpstream = ReturnType<typeof openUpstream>;

export interface OpenUpstreamsOptions {
  readonly events: Events;
  readonly files: OwnFiles;
  readonly hooks: Pick<Hooks, 'wrapClient' | 'openExchange'>;
  /** Receives each exchange with an upstream unredacted. @default none */
  readonly tap?: Tap | undefined;
  /** Shares rejected credentials with other processes. @default with none */
  readonly rejections?: RejectionStore | undefined;
  /** Upstreams that are open, and their settings. @default none */
  readonly before?: { readonly config: Config; readonly upstreams: ReadonlyMap<string, OpenUpstream> } | undefined;
}

/** Opens these upstreams, except for those that are open with the same settings. */
export function openUpstreams(
  config: Config,
  names: readonly string[],
  { events, hooks, files, tap, rejections = NO_REJECTION_STORE, before }: OpenUpstreamsOptions,
): Map<string, OpenUpstream> {
  const opened = new Map<string, Authorization & Required<Pick<OpenUpstreamOptions, 'tls' | 'proxy'>>>();
  const upstreams = new Map<string, OpenUpstream>();
  for (const name of new Set(names)) {
    const settings = checked(config.upstreams[name]);
    const running = before?.upstreams.get(name);
    if (running !== undefined && isDeepStrictEqual(before?.config.upstreams[name], settings)) {
      upstreams.set(name, running);
      continue;
    }
    const authorization = files.authorization(name, settings, hooks);
    const tls = withFiles(settings.tls, files.upstreamTls(name, settings));
    const proxy = settings.proxy && { url: settings.proxy.url, authorize: proxyAuthorization(settings.proxy) };
    if (authorization !== undefined) opened.set(name, { ...authorization, tls, proxy });
  }
  files.check();
  // Not before all files are known to be usable.
  for (const [name, own] of opened) {
    const settings = checked(config.upstreams[name]);
    const ofUpstream = rejections.of(JSON.stringify([LIST_FORMAT, settings]));
    const { wrapClient } = hooks;
    upstreams.set(name, openUpstream({ ...settings, ...own, name, events, tap, rejections: ofUpstream, wrapClient }));
  }
  return upstreams;
}
