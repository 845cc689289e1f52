import { LIMIT_ROWS } from '../../src/core/kernel/limits.ts';

const HEAD = `# Which bounds does Portico have?

Everything that a caller or an upstream can make grow is bounded. A bound is a setting where an operator has a reason to
choose it: [configuration.md](configuration.md) has those. The others are constants, in
\`src/core/kernel/limits.ts\`. This page is generated from it by \`npm run settings\`.

Names end with the unit: \`...Ms\` is milliseconds, \`...Bytes\` is bytes. The log and
\`portico_bounds_reached_total\` name the bound that ended or refused something. A settings file that sets one of them is
rejected.

| Bound | Of | Value | Meaning |
|---|---|---|---|
`;

/** Parts that the log names ahead of a bound. */
const PREFIXED = ['http', 'mcp', 'limits', 'tracing', 'cache', 'breaker', 'retry'];

/** The text of `docs/limits.md`: one table of the bounds that are no settings. */
export function limitsPage(): string {
  const rows = LIMIT_ROWS.map(
    ({ part, name, value, meaning }) =>
      `| \`${PREFIXED.includes(part) ? `${part}.` : ''}${name}\` | ${part} | ${value.toLocaleString('en-US')} | ${meaning} |\n`,
  );
  return HEAD + rows.join('');
}
