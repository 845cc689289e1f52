import { LIMIT_ROWS, type LimitOverrides } from '../../../src/core/kernel/limits.ts';

/** Environment variable of a process of a test: the bounds that it has in place of its own, as JSON. */
export const LIMITS_VARIABLE = 'LIMITS_OF_TEST';

const overrides: LimitOverrides = JSON.parse(process.env[LIMITS_VARIABLE] ?? '{}');
for (const row of LIMIT_ROWS) {
  const value: unknown = Reflect.get(overrides[row.part] ?? {}, row.name);
  if (value !== undefined) Object.assign(row, { value });
}
