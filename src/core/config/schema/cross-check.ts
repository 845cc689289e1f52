/** Settings of which any part may still be missing or of another type, because there are other issues in them. */
export type Unchecked<T> = { readonly [Key in keyof T]?: Unchecked<T[Key]> } | null | undefined;

/** Says that what stands at `path`, below the block that is checked, is wrong. */
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

/** zod leaves such checks out once a key is wrong; a person wants to hear of all issues at once. */
export const EVEN_AFTER_ISSUES = { when: () => true };

/** Keys of a block; none where something else stands in its place. */
export function keysOf(block: unknown): string[] {
  return typeof block === 'object' && block !== null ? Object.keys(block) : [];
}
