/** Settings of which any part may still be missing or of another type, because there are other issues in them. */
export type Unchecked<T> = { readonly [Key in keyof T]?: Unchecked<T[Key]> } | null | undefined;

/** Reports an issue of the value at `path`, relative to the checked block. */
export type Report = (path: readonly string[], message: string) => void;

export interface Context {
  addIssue(issue: { code: 'custom'; path: string[]; message: string }): void;
}

/** For `superRefine`: a check over several keys. Goes with {@link EVEN_AFTER_ISSUES}. */
export function crossCheck<T>(check: (settings: Unchecked<T>, report: Report) => void) {
  return (settings: T, context: Context): void => {
    check(settings as Unchecked<T>, (path, message) => context.addIssue({ code: 'custom', path: [...path], message }));
  };
}

/** Runs a check even after other issues, so that all issues are reported at once. By default, zod skips it then. */
export const EVEN_AFTER_ISSUES = { when: () => true };

/** Returns the keys of a block, or none if the value is not a block. */
export function keysOf(block: unknown): string[] {
  return typeof block === 'object' && block !== null ? Object.keys(block) : [];
}
