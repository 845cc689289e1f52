import { LogChange } from '../../core/config/schema/log.ts';
import { type Config, resourceConfig } from '../../core/config/schema/settings.ts';
import type { Core } from '../../core/core.ts';
import { readVersion } from '../../core/kernel/version.ts';
import type { LogControl } from '../log-verbosity/log-operations.ts';
import type { Verbosity } from '../log-verbosity/verbosity.ts';
import type { Now } from './view.ts';

/** Lets an operator see and set what is logged. */
export function logControl(verbosity: Verbosity): LogControl {
  return {
    read: () => verbosity.state,
    change(asked) {
      const { success, data } = LogChange.safeParse(asked);
      if (success) verbosity.change(data);
      return success;
    },
  };
}

export interface ViewOptions {
  readonly isDraining: boolean;
  /** Base URL of the public listener; `undefined` before it listens. */
  readonly url: string | undefined;
  /** Whether the store that replicas share is there; `undefined` where there is none. */
  readonly isSharedUp: boolean | undefined;
  /** Settings in force, with their secrets masked. */
  readonly settings: string;
  /** The file that the settings are from. @default none */
  readonly settingsFile?: string | undefined;
}

/** How a gateway stands now, for its status page. */
export function viewOf(core: Core, config: Config, options: ViewOptions): Now {
  const { isDraining, url, isSharedUp, settings, settingsFile = null } = options;
  const { cache } = core.holdings;
  return {
    version: readVersion(),
    isDraining,
    url: config.publicUrl ?? url ?? '',
    upstreams: [...core.upstreams].map(([name, { breakerState }]) => ({ name, breaker: breakerState })),
    resources: core.catalogue.offered.map(({ resource, definition }) => ({
      name: resource.name,
      uri: definition.uri,
      upstream: resourceConfig(config, resource).upstream,
    })),
    snapshots: { entries: cache.entries, bytes: cache.bytes, maxBytes: config.cache.maxBytes },
    shared: isSharedUp === undefined ? undefined : { isUp: isSharedUp },
    settingsFile,
    settings,
  };
}
