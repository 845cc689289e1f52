import type { z } from 'zod';

/** Settings of which any part may be missing or of another type, because of other issues. */
export type Unchecked<T> = { readonly [Key in keyof T]?: Unchecked<T[Key]> } | null | undefined;

/** Reports an issue at `path` below the checked block. */
export type Report = (path: readonly string[], message: string) => void;

/** Checks several keys of a block against each other. */
export type CrossCheck<T> = (settings: Unchecked<T>, report: Report) => void;

/** Adds checks to a schema. They run even after other issues, so that all issues are reported at once. */
export function withChecks<Schema extends z.ZodType>(
  schema: Schema,
  ...checks: readonly CrossCheck<z.output<Schema>>[]
): Schema {
  return schema.superRefine(
    (settings, context) => {
      const report: Report = (path, message) => context.addIssue({ code: 'custom', path: [...path], message });
      for (const check of checks) check(settings as Unchecked<z.output<Schema>>, report);
    },
    // By default, zod skips a check after issues.
    { when: () => true },
  );
}

/** Returns the keys of a block, or none if the value is not a block. */
export function keysOf(block: unknown): string[] {
  return typeof block === 'object' && block !== null ? Object.keys(block) : [];
}
