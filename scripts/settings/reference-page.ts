import { BOUNDS } from '../../src/capabilities/metrics/metric-registry.ts';
import { ERRORS, type ErrorRow } from '../../src/core/kernel/error-table.ts';
import { LIMIT_ROWS } from '../../src/core/kernel/limits.ts';
import { declaredMetrics } from './metric-list.ts';

/** Parts that the log names ahead of a bound. */
const PREFIXED = ['http', 'mcp', 'limits', 'tracing', 'cache', 'breaker', 'retry'];

/** The text of `docs/reference.md`: a table each of errors, metrics and limits. */
export function referencePage(): string {
  return `# Reference

\`npm run settings\` generates this page from the sources.

## Errors

[behaviour.md](behaviour.md#errors) describes what a caller receives. An error may have a detail of its own in place of the one
below. \`Retry-After\` is its default, in seconds.

| Code | HTTP | JSON-RPC | Retry-After | Title | Detail |
|---|---|---|---|---|---|
${errorRows()}
## Metrics

[operations.md](operations.md#metrics) describes how to scrape them, and their labels. Names follow OpenTelemetry's semantic
conventions where these exist; all others begin with \`portico_\`. A name ends with its unit. The
[default metrics of prom-client](https://github.com/siimon/prom-client#default-metrics) are exported as well. The upper bounds
of the buckets of histograms, in seconds:
${BOUNDS.join(', ')}.

| Metric | Type | Labels | Meaning |
|---|---|---|---|
${metricRows()}
## Limits

Everything that a caller or a platform can make grow is bounded. Bounds that are worth tuning are
[settings](configuration.md). The others are constants, in \`src/core/kernel/limits.ts\`, and a settings file that sets one of
them is rejected. \`...Ms\` is milliseconds, \`...Bytes\` is bytes. The log and \`portico_bounds_reached_total\` name the bound
that ended or refused something.

| Bound | Of | Value | Meaning |
|---|---|---|---|
${limitRows()}`;
}

function errorRows(): string {
  const rows = Object.entries<ErrorRow>(ERRORS).sort(([, one], [, other]) => one.status - other.status);
  return rows
    .map(([code, { status, rpc = '–', retryAfterSeconds = '–', title, detail }]) =>
      line([`\`${code}\``, status, rpc, retryAfterSeconds, title, detail.replaceAll('<', '\\<')]),
    )
    .join('');
}

function metricRows(): string {
  return declaredMetrics()
    .map(({ name, type, labels, help }) => {
      const quoted = labels.map((label) => `\`${label}\``).join(', ');
      return line([`\`${name}\``, type, quoted || '–', help]);
    })
    .join('');
}

function limitRows(): string {
  return LIMIT_ROWS.map(({ part, name, value, meaning }) =>
    line([`\`${PREFIXED.includes(part) ? `${part}.` : ''}${name}\``, part, value.toLocaleString('en-US'), meaning]),
  ).join('');
}

function line(cells: readonly (string | number)[]): string {
  return `| ${cells.join(' | ')} |\n`;
}
