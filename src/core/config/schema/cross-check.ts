import type { z } from 'zod';

/** Reports an issue at `path` below the checked block. */
export type Report = (path: readonly (string | number)[], message: string) => void;

/** Checks several keys of a block against each other. */
export type CrossCheck<T> = (settings: T, report: Report) => void;

/** Adds checks to a schema. As zod does, they run once no key has a wrong type or name. */
export function withChecks<Schema extends z.ZodType>(
  schema: Schema,
  ...checks: readonly CrossCheck<z.output<Schema>>[]
): Schema {
  return schema.superRefine((settings, context) => {
    const report: Report = (path, message) => context.addIssue({ code: 'custom', path: [...path], message });
    for (const check of checks) check(settings, report);
  });
}
