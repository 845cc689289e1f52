import type { z } from 'zod';

/** One top-level block of the settings file that belongs to a capability. */
export interface SettingsSlice<Key extends string = string, Schema extends z.ZodType = z.ZodType> {
  readonly key: Key;
  readonly schema: Schema;
  /** Whether a change takes effect only when the process starts. @default false */
  readonly needsRestart?: true;
}

export type SliceInputs<Slices extends readonly SettingsSlice[]> = {
  // A capability without settings has a slice of any key in its type.
  [Slice in Slices[number] as string extends Slice['key'] ? never : Slice['key']]?: z.input<Slice['schema']>;
};

/** The block of a slice in settings that were parsed with it. */
export function blockOf<Schema extends z.ZodType>(
  config: object,
  { key }: SettingsSlice<string, Schema>,
): z.output<Schema> {
  return (config as Readonly<Record<string, z.output<Schema>>>)[key] as z.output<Schema>;
}
