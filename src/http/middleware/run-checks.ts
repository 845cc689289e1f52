import type { Check, Middleware } from '../context.ts';

/** Runs checks in their order. `exempt` has the paths that pass without. */
export function runChecks(checks: readonly Check[], exempt: ReadonlySet<string> = new Set()): Middleware {
  return function run(ctx, next) {
    if (!exempt.has(ctx.path)) for (const check of checks) check(ctx);
    return next();
  };
}
