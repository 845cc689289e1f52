import { parseArgs } from 'node:util';
import { loadTokenizer } from '../../scripts/tool-tokens.ts';
import { table } from '../report.ts';
import { checkServer, type Findings } from './checks.ts';
import type { Target } from './connection.ts';
import { measureCall } from './load.ts';

// Measures any MCP server by its URL: docs/measure-mcp.md. The token is read from the environment, since other users of a machine can
// see command lines.

const USAGE = 'npm run bench:mcp -- URL [--seconds N]   (token: environment variable MCP_TOKEN)\n';

/** Checks and measures a server, and returns the report in Markdown and the number of failed checks. */
export async function reportOn(target: Target, seconds: number): Promise<{ text: string; failed: number }> {
  const findings = await checkServer(target);
  const speeds = await speedTable(findings, seconds).finally(findings.close);
  const failed = findings.checks.filter((check) => check.failed > 0).length + speeds.failed;
  const revisions = findings.revisions.join(', ') || 'none';
  const parts = [`Revisions: ${revisions}\n`, checkTable(findings), await tokenTable(findings), speeds.text];
  return { text: parts.join('\n'), failed };
}

function checkTable({ checks }: Findings): string {
  const rows = checks.map(({ name, done, failed, first }) => [name, String(done), String(failed), cell(first ?? '')]);
  return table(['Check', 'Times', 'Failed', 'First failure'], rows);
}

async function tokenTable({ definitions, tools, calls }: Findings): Promise<string> {
  const countTokens = await loadTokenizer();
  const row = (name: string, text: string) => [cell(name), String(Buffer.byteLength(text)), String(countTokens(text))];
  const rows = [row(`definitions of ${tools} tools`, definitions), ...calls.map(({ name, text }) => row(name, text))];
  return table(['What a model is sent', 'Bytes', 'o200k tokens'], rows);
}

async function speedTable({ calls, connection }: Findings, seconds: number): Promise<{ text: string; failed: number }> {
  const rows: string[][] = [];
  let failed = 0;
  for (const call of connection === undefined ? [] : calls) {
    const speed = await measureCall(connection as NonNullable<typeof connection>, call, seconds);
    const times = [speed.p50Ms, speed.p99Ms].map((ms) => `${ms.toFixed(1)} ms`);
    rows.push([cell(call.name), speed.requestsPerSecond.toFixed(0), ...times, String(speed.failed)]);
    if (speed.failed > 0) failed += 1;
  }
  return { text: table(['Call, eight at once', 'Requests a second', 'p50', 'p99', 'Failed'], rows), failed };
}

/** Text of a server in one cell: no line breaks and no control characters, which a terminal would act on. */
function cell(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ').replaceAll('|', '\\|');
}

if (import.meta.main) {
  const options = { seconds: { type: 'string', default: '2' } } as const;
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const [url = ''] = positionals;
  const seconds = Number(values.seconds);
  if (!URL.canParse(url) || positionals.length > 1 || !(seconds > 0 && seconds <= 60)) {
    process.stderr.write(USAGE);
    process.exit(2);
  }
  try {
    const { text, failed } = await reportOn({ url, token: process.env['MCP_TOKEN'] || undefined }, seconds);
    process.stdout.write(text);
    if (failed > 0) process.exitCode = 1;
  } catch (error) {
    const { message, cause } = error as Error;
    process.stderr.write(`bench: ${message}${cause instanceof Error ? `: ${cause.message}` : ''}\n`);
    process.exitCode = 1;
  }
}
