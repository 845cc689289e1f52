import type { Resource } from '../../resources/resource.ts';
import type { Config, ResourceConfig } from '../schema/settings.ts';
import type { SettingsSlice } from '../settings-slice.ts';

/** Valid settings, and what is known of how they were written. */
export interface Written {
  readonly config: Config;
  /** The resources that are offered. */
  readonly offered: readonly { readonly resource: Resource; readonly settings: ResourceConfig }[];
  /** Returns whether the file sets a path: in `config`, defaults are already filled in. */
  readonly isWritten: (path: readonly string[]) => boolean;
  readonly slices: readonly SettingsSlice[];
}

/** Reports settings that are valid and most likely a mistake, each at its path. */
export type Warning = (settings: Written, warn: (path: readonly string[], message: string) => void) => void;
