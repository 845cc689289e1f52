import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../client.ts';
import { SERVER_CORE } from '../cores.ts';
import { servePlatform } from '../platform.ts';
import { HELD, porticoCommand, READ } from '../portico.ts';
import { has, type Pinned } from '../process.ts';
import { table } from '../report.ts';
import type { Experiment } from '../scenario.ts';
import { listening, ours } from '../server.ts';
import type { Workshop } from '../workshop.ts';
import { type Load, measure, tokenOf } from '../wrk.ts';
import { REQUESTS } from './mcp.ts';

/** Few, so that a turn of the event loop stays short under valgrind, which is fifty times slower: Portico would shed load. */
const CONNECTIONS = 4;
const CALLERS = 64;
/** Until V8 has compiled what is called over and over, and for the count. */
const WARM_UP = { requests: 20_000, seconds: 20 };
const COUNTED_SECONDS = 8;

/** Where instructions are spent, by the symbol. The first that matches; what V8 compiled has the file in its name. */
const PARTS: readonly (readonly [part: string, symbols: RegExp])[] = [
  ["Portico's own code", /^JS:.*file:/],
  ["Node's own code", /^JS:/],
  ['regular expressions', /RegExp/],
  ["V8's built-in functions", /^Builtins_/],
  [
    'garbage collection',
    /Scaveng|IterateObjectCache|Sweep|internal::Heap::|heap::base|Mark|GlobalHandles|RootVisitor|SemiSpace/,
  ],
  ['strings', /String|Utf8|simdutf/],
  ['HTTP parser', /llhttp|http_parser/],
  ['SHA-256', /sha|SHA|EVP|evp|ossl|OPENSSL|CRYPTO|Hash/],
  ['all else', /^/],
];

/** Instructions of a request in user mode on the main thread, by parts, whatever else the machine does. */
export const instructions: Experiment = {
  name: 'instructions',
  async run(workshop) {
    if (!has('valgrind')) throw new Error('needs valgrind');
    const platform = await servePlatform(workshop);
    const bare = (answer: string) => async () => [ours('bench/servers/bare.ts'), answer];
    const portico = async () => (await porticoCommand(workshop, platform.url, HELD)).command;
    const path = `${READ}tools`;
    const rows: [string, () => Promise<readonly string[]>, Omit<Load, 'url'>, string][] = [
      ['bare', bare('plain'), {}, path],
      ['cached read', portico, {}, path],
      ['304', portico, { headers: { 'if-none-match': '*' } }, path],
      ['zstd', portico, { headers: { 'accept-encoding': 'zstd' } }, path],
      ['`resources/read`', portico, REQUESTS['resources/read'], '/mcp'],
      ['`tools/call`', portico, REQUESTS['tools/call'], '/mcp'],
    ];
    const lines: string[][] = [];
    for (const [name, command, load, target] of rows) {
      const { total, byPart } = await count(workshop, await command(), load, target);
      lines.push([name, thousands(total), ...PARTS.map(([part]) => thousands(byPart.get(part) ?? 0))]);
    }
    return table(['Thousands of instructions', 'All', ...PARTS.map(([part]) => part)], lines);
  },
};

async function count(workshop: Workshop, command: readonly string[], load: Omit<Load, 'url'>, target: string) {
  const output = join(workshop.folder, `callgrind-${command.length}-${performance.now()}`);
  const server = await listening(runCounted(workshop, command, output));
  const url = `${server.url}${target}`;
  const client = createClient();
  for (let caller = 1; caller <= CALLERS; caller += 1) await client.read(`${server.url}${READ}tools`, tokenOf(caller));
  client.close();
  const whole = { ...load, url, callers: CALLERS, connections: CONNECTIONS };
  let warm = 0;
  while (warm < WARM_UP.requests) warm += (await measure(workshop, WARM_UP.seconds, whole)).requests;
  control('-z', server.pid);
  const { requests } = await measure(workshop, COUNTED_SECONDS, whole);
  control('-d', server.pid);
  server.child.kill('SIGKILL');
  await server.ended;
  return summed(workshop, output, server.pid, requests);
}

function runCounted(workshop: Workshop, command: readonly string[], output: string): Pinned {
  const valgrind = [
    '--tool=callgrind',
    '--smc-check=all-non-file',
    '--dump-instr=yes',
    `--callgrind-out-file=${output}`,
  ];
  const plain = ['--separate-threads=yes', '--compress-pos=no', '--compress-strings=no', '--quiet'];
  const log = ['--no-logfile-per-isolate', `--logfile=${join(workshop.folder, 'v8.log')}`];
  const named = ['--perf-basic-prof', `--perf-basic-prof-path=${workshop.folder}`, ...log];
  return workshop.run(SERVER_CORE, 'valgrind', [...valgrind, ...plain, process.execPath, ...named, ...command]);
}

/** Sets the counts to 0 (`-z`), or writes them to the file (`-d`). */
function control(what: '-z' | '-d', pid: number): void {
  const { status, stdout } = spawnSync('callgrind_control', [what, String(pid)], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`callgrind_control ${what}:\n${stdout}`);
}

/** A function that V8 has compiled. */
interface Compiled {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

/** Adds up the last dump (https://valgrind.org/docs/manual/cl-format.html) by parts, divided by the requests. */
function summed(workshop: Workshop, output: string, pid: number, requests: number) {
  const functions = compiledIn(join(workshop.folder, `perf-${pid}.map`));
  // Of the first dump, the first thread: V8 compiles and collects garbage in others, too.
  const dump = `${output}.1-01`;
  const byPart = new Map<string, number>();
  let total = 0;
  let symbol = '';
  let isCall = false;
  for (const line of readFileSync(dump, 'utf8').split('\n')) {
    if (line.startsWith('fn=')) symbol = line.slice('fn='.length);
    const [, address, count] = /^(0x[0-9a-f]+) \d+ (\d+)$/.exec(line) ?? [];
    // The line behind `calls=` has what the called function took.
    if (address !== undefined && !isCall) {
      const name = symbol.startsWith('0x') ? nameAt(functions, Number(address)) : symbol;
      const part = PARTS.find(([, symbols]) => symbols.test(name))?.[0] ?? '';
      const each = Number(count) / requests;
      byPart.set(part, (byPart.get(part) ?? 0) + each);
      total += each;
    }
    isCall = line.startsWith('calls=');
  }
  return { total, byPart };
}

/** Reads a map of perf: begin, length and name of each function, the newest last. Returns it by their begin. */
function compiledIn(file: string): Compiled[] {
  const functions = new Map<number, Compiled>();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, begin = '', length = '', name] = /^([0-9a-f]+) ([0-9a-f]+) (.+)$/.exec(line) ?? [];
    const from = Number.parseInt(begin, 16);
    if (name !== undefined) functions.set(from, { from, to: from + Number.parseInt(length, 16), name });
  }
  return [...functions.values()].sort((a, b) => a.from - b.from);
}

function nameAt(functions: readonly Compiled[], address: number): string {
  let [low, high] = [0, functions.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((functions[middle] as Compiled).from <= address) low = middle + 1;
    else high = middle;
  }
  const last = functions[low - 1];
  return last !== undefined && address < last.to ? last.name : 'unknown';
}

function thousands(count: number): string {
  return (count / 1000).toFixed(1);
}
