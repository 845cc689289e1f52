import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Status } from '../../../src/capabilities/status/gateway-status.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { type HttpUpstream, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { manyTools } from '../../support/platform/loads.ts';
import { boundedSettings } from '../../support/process/limits-of-process.ts';
import {
  inFolder,
  MAIN,
  type PorticoProcess,
  porticoEnvironment,
  startPortico,
  writeSettings,
} from '../../support/process/process.ts';
import { needsCommands } from '../../support/tools.ts';
import { judge, record } from './recorder.ts';

/** Time between two scrapes. In the time of the rules it is 300 times as long. */
const EVERY_MS = 100;
const STRETCHED_SECONDS = 30;
const STRETCH = (1000 * STRETCHED_SECONDS) / EVERY_MS;
const ITEMS = { projects: [], workflows: [], tools: manyTools(3) };
/** Scrapes before the fault: two minutes of the rules' time. */
const QUIET = 5;
/** Time in which a line that flickers is shown. */
const FLICKER_MS = 15_000;

/** The default lifetimes of lists, as much shorter as the time of the rules is longer. */
export const CACHE = {
  ttlMs: 60_000 / STRETCH,
  staleWhileRevalidateMs: 300_000 / STRETCH,
  staleIfErrorMs: 3_600_000 / STRETCH,
};

export interface Scene {
  readonly portico: PorticoProcess;
  readonly platform: HttpUpstream;
  readonly folder: string;
  readonly file: string;
  readonly url: string;
  readonly adminUrl: string;
  /** Reads a list, and resolves with the status; 0 without a response. */
  read(name: string, token?: string): Promise<number>;
}

/** More settings: of the one upstream, of tools, and whole blocks. */
export interface SceneSettings {
  readonly http?: object;
  readonly upstream?: object;
  readonly tools?: object;
  readonly [block: string]: unknown;
}

export interface Scenario {
  /** Settings beside those that every scene has, which bounds may be among. */
  readonly settings?: (given: Pick<Scene, 'platform' | 'folder'>) => SceneSettings | Promise<SceneSettings>;
  readonly env?: Record<string, string>;
  /** Arguments beside the settings file. @default none */
  readonly args?: readonly string[];
  /** Command that runs the words after it. @default none */
  readonly command?: readonly string[];
  /** What is read again and again. @default tools */
  readonly reads?: readonly string[];
  /** Whether the process is scraped during the fault. @default true */
  readonly isScraped?: boolean;
  /** Time between two scrapes. @default 100 */
  readonly everyMs?: number;
  provoke(scene: Scene): unknown;
  /** Scrapes during the fault. @default 40, 20 minutes of the rules' time */
  readonly faulty?: number;
  readonly fires: readonly string[];
  /** Lines of the verdict on the status page then, worst first, and no others. @default it is not looked at */
  readonly shows?: readonly RegExp[];
  /** Whether these lines are shown again and again, and not all the time. @default false */
  readonly flickers?: boolean;
  /** Why alerts that fire have no line of the verdict with their section of the runbook. @default all have */
  readonly withoutLine?: Readonly<Record<string, string>>;
  /** Reason in the log line of a request that failed. @default not looked at */
  readonly reason?: RegExp;
}

export type Scenarios = Readonly<Record<string, Scenario>>;

/** Tests that the alerts of each scenario fire, and that the status page has a line for each. */
export function testAlerts(of: string, scenarios: Scenarios): void {
  describe(`the alert rules, on what a process exports: ${of}`, function () {
    // Short of processor time, an event loop is late, which is an alert of its own, and a fault may not come about.
    this.retries(2);

    before(function () {
      needsCommands(this, ['promtool', 'prlimit', 'redis-server']);
    });

    for (const [name, scenario] of Object.entries(scenarios)) {
      const also = scenario.shows === undefined ? '' : ', as the status page shows';
      it(`fire ${scenario.fires.join(', ') || 'no alert'}${also}: ${name}`, () => play(scenario));
    }
  });
}

/** Provokes a fault of a real process, records its metrics, and runs the rules over them. */
async function play(scenario: Scenario): Promise<void> {
  const { settings = () => ({}), env = {}, command = [], args = [], reads = ['tools'], faulty = 40, fires } = scenario;
  const { isScraped, everyMs = EVERY_MS } = scenario;
  const platform = await startHttpUpstream(lists(ITEMS), { record: false });
  await inFolder(async (folder) => {
    const more = await settings({ platform, folder });
    const bounded = boundedSettings(JSON.stringify(common(platform, more)), env);
    const file = await writeSettings(folder, bounded.yaml);
    const words = [...command, process.execPath, MAIN, 'serve', file, ...args];
    const portico = startPortico(words[0] ?? '', words.slice(1), porticoEnvironment(bounded.env));
    const url = await portico.ready;
    const adminUrl = await eventually(() => /"adminUrl":"([^"]+)"/.exec(portico.stdout())?.[1]);
    const read = (name: string, token = 'token.') => readFrom(url, name, token);
    const scene: Scene = { portico, platform, folder, file, url, adminUrl, read };
    const stop = repeat(() => Promise.all(reads.map((name) => read(name))));
    const provoke = () => scenario.provoke(scene);
    const series = await record({ adminUrl, everyMs, quiet: QUIET, faulty, isScraped, provoke });
    await expectVerdict(adminUrl, scenario);
    if (scenario.reason !== undefined) await expectReason(portico, scenario.reason);
    stop();
    await judge(series, {
      ...{ stretchedSeconds: STRETCHED_SECONDS, quiet: QUIET, length: QUIET + faulty },
      fires,
    });
    portico.child.kill('SIGKILL');
    await portico.ended;
  });
  await platform.close();
}

async function expectVerdict(adminUrl: string, { shows, flickers = false, ...scenario }: Scenario): Promise<void> {
  if (shows === undefined) return;
  const deadline = performance.now() + FLICKER_MS;
  for (;;) {
    try {
      return await expectShown(adminUrl, shows, scenario);
    } catch (error) {
      if (!flickers || performance.now() > deadline) throw error;
      await sleep(EVERY_MS);
    }
  }
}

type Fired = Pick<Scenario, 'fires' | 'withoutLine'>;

async function expectShown(
  adminUrl: string,
  shows: readonly RegExp[],
  { fires, withoutLine = {} }: Fired,
): Promise<void> {
  const { verdict } = (await (await fetch(`${adminUrl}/status`)).json()) as Status;
  const texts = verdict.troubles.map(({ text }) => text);
  expect(texts, texts.join('; ')).to.have.length(shows.length);
  for (const [index, text] of texts.entries()) expect(text).to.match(shows[index] ?? expect.fail(text));
  const sections = verdict.troubles.map(({ runbook }) => runbook);
  const expected = fires.filter((alert) => !Object.hasOwn(withoutLine, alert));
  expect(sections).to.include.members(expected.map((alert) => `docs/runbook.md#${alert.toLowerCase()}`));
  const page = await (await fetch(adminUrl)).text();
  const title = /<title>(.*?)<\/title>/s.exec(page)?.[1] ?? '';
  expect(title.toLowerCase()).to.include(verdict.level);
}

async function expectReason({ stdout }: PorticoProcess, reason: RegExp): Promise<void> {
  const found = (line: string) => /"reason":"([^"]*)".*"msg":"request"/.exec(line)?.[1] ?? '';
  const reasons = new Set(stdout().split('\n').map(found));
  expect(
    [...reasons].some((one) => reason.test(one)),
    [...reasons].join('; '),
  ).to.equal(true);
}

function common({ url }: HttpUpstream, { http, upstream, tools, ...more }: SceneSettings) {
  return {
    http: { port: 0, ...http },
    admin: { port: 0 },
    upstreams: { platform: { baseUrl: url, retry: { attempts: 0 }, ...upstream } },
    resources: {
      projects: { upstream: 'platform' },
      workflows: { upstream: 'platform', cache: CACHE },
      tools: { upstream: 'platform', cache: CACHE, ...tools },
    },
    ...more,
  };
}

/** Does work again and again, with a pause, until the returned function is called or the test ends. */
export function repeat(work: () => Promise<unknown>, pauseMs = 20): () => void {
  let ended = false;
  const end = () => {
    ended = true;
  };
  onCleanup(end);
  void (async () => {
    while (!ended) {
      await work();
      await sleep(pauseMs);
    }
  })();
  return end;
}

async function readFrom(url: string, name: string, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  try {
    const response = await fetch(`${url}/mcp/v1/resources/read?uri=platform://${name}`, { headers });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

let tokens = 0;
export function nextToken(): string {
  tokens += 1;
  return `token-${tokens}.`;
}

export const portOf = (url: string) => Number(new URL(url).port);

/** Sends reads of tools on one connection, so many every ten milliseconds, whatever becomes of them. */
export function sendReads(url: string, count: number): void {
  const request =
    'GET /mcp/v1/resources/read?uri=platform://tools HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer token.\r\n\r\n';
  const socket = connect(portOf(url), '127.0.0.1')
    .on('error', () => {})
    .resume();
  onCleanup(() => socket.destroy());
  repeat(async () => void (socket.writableNeedDrain || socket.write(request.repeat(count))), 10);
}

export async function writeSecret(folder: string, name = 'secret'): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, 'a secret of the deployment, long enough');
  return file;
}

export async function ownCredential({ folder }: Pick<Scene, 'folder'>): Promise<SceneSettings> {
  const credential = { kind: 'service', file: await writeSecret(folder) };
  return { upstream: { credential }, allowUnverifiedCallers: true };
}
