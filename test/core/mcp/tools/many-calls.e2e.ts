import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { listOf, lists, startHttpUpstream } from '../../../support/platform/http-upstream.ts';
import { inFolder, runPortico, writeSettings } from '../../../support/process/process.ts';
import { exchange, get } from '../../../support/raw-http.ts';
import { callOf, postText } from '../../../support/rpc.ts';

const CALLS = 700;
/** Of a list of 900 KB, each with a hidden character at its end. */
const PROJECTS = Array.from({ length: 6000 }, (_, index) => ({
  ...{ id: `project-${index}`, name: `Project ${index}`, createTime: '2024-01-01T00:00:00Z' },
  description: `What number ${index} is about: ${'.'.repeat(40)}\u200b`,
}));
const INVISIBLE = [{ id: 'tool-1', name: '\u200b'.repeat(690_000), version: '1.0.0', category: 'A', description: 'b' }];

const NAMES = ['id', 'name', 'description', 'createTime'];

/** Arguments of each call, and what an answered one says. */
const ATTACKS: Readonly<Record<string, readonly [args: (call: number) => object, answer: string]>> = {
  'whole lists': [() => ({}), '\\"total\\":6000'],
  'long pages at different places': [(call) => ({ limit: 100 + (call % 20) }), '\\"total\\":6000'],
  'one search': [() => ({ query: 'project' }), '\\"total\\":6000'],
  'searches of their own': [(call) => ({ query: `Project ${call}` }), '\\"total\\":'],
  'counts of their own': [(call) => ({ query: `number ${call}`, count_by: 'createTime' }), '\\"counts\\":'],
  'fields of their own': [
    (call) => ({ query: `o${'je'.slice(call % 3)}`, fields: NAMES.slice(call % 4).join(), limit: 100 }),
    '\\"total\\":',
  ],
};

const as = (name: string) => ({ Authorization: `Bearer token-of-${name}` });

interface Outcome {
  readonly answered: number;
  readonly overloaded: number;
  readonly slowestLivezMs: number;
  readonly ms: number;
}

/** Sends all calls at once over a connection each, while another caller asks for `/livez`. Rejects for any other answer. */
async function attack(url: string, tool: string, args: (call: number) => object, answer: string): Promise<Outcome> {
  const begun = performance.now();
  let isOver = false;
  let slowestLivezMs = 0;
  const neighbour = (async () => {
    while (!isOver) {
      const asked = performance.now();
      expect((await exchange(url, get('/livez', { Authorization: undefined }))).status).to.equal(200);
      slowestLivezMs = Math.max(slowestLivezMs, performance.now() - asked);
      await sleep(5);
    }
  })();
  const calls = Array.from({ length: CALLS }, async (_, call) => {
    const { status, body } = await exchange(url, postText(callOf(tool, args(call)), as('one-caller')));
    expect(status).to.equal(200);
    const text = body.toString();
    if (text.includes('"isError":true')) expect(text).to.contain('overloaded: ');
    else expect(text).to.contain(answer);
    return text.includes('"isError":true');
  });
  const refused = await Promise.all(calls).finally(() => {
    isOver = true;
  });
  await neighbour;
  const overloaded = refused.filter(Boolean).length;
  return { answered: CALLS - overloaded, overloaded, slowestLivezMs, ms: performance.now() - begun };
}

describe(`a process with a heap of 256 MB, and ${CALLS} tool calls of one caller at once`, function () {
  this.timeout(120_000);

  for (const [what, [args, answer]] of Object.entries(ATTACKS)) {
    it(`answers or refuses each of them, and other callers meanwhile: ${what}`, async () => {
      const { answered, overloaded } = await underAttack('list_projects', args, answer);
      expect(answered).to.be.above(100);
      expect(answered + overloaded).to.equal(CALLS);
    });
  }

  it('answers or refuses each call of an item of 2 MiB of invisible characters, and other callers meanwhile', async () => {
    for (const [args, answer] of [
      [{}, 'result_too_large'],
      [{ query: 'tool' }, 'result_too_large'],
      [{ query: 'tool', fields: 'id,category' }, 'tool-1'],
    ] as const) {
      const platform = await startHttpUpstream(lists({ tools: INVISIBLE }), { record: false });
      await withPortico(platform.url, async (url) => {
        const { body } = await exchange(url, postText(callOf('list_installed_tools', args), as('one')));
        expect(body.toString()).to.contain(answer);
        expect((await exchange(url, get('/livez', { Authorization: undefined }))).status).to.equal(200);
      });
    }
  });
});

async function underAttack(tool: string, args: (call: number) => object, answer: string): Promise<Outcome> {
  const platform = await startHttpUpstream(
    (request, response) => {
      // Not at once: the calls come together.
      setTimeout(() => lists({ [listOf(request)]: PROJECTS })(request, response), 20);
    },
    { record: false },
  );
  return withPortico(platform.url, async (url) => {
    await exchange(url, postText(callOf(tool, { limit: 1 }), as('another')));
    const outcome = await attack(url, tool, args, answer);
    if (process.env['FIGURES'] !== undefined) process.stderr.write(`${JSON.stringify(outcome)}\n`);
    return outcome;
  });
}

async function withPortico<T>(platform: string, work: (url: string) => Promise<T>): Promise<T> {
  return inFolder(async (folder) => {
    const settings = {
      ...{ http: { port: 0 }, admin: { enabled: false } },
      upstreams: { platform: { baseUrl: platform, maxPageBytes: 16_777_216 } },
      resources: {
        projects: { upstream: 'platform' },
        tools: { upstream: 'platform' },
        workflows: { upstream: 'platform' },
      },
    };
    const file = await writeSettings(folder, JSON.stringify(settings));
    const portico = runPortico(['--config', file], { NODE_OPTIONS: '--max-old-space-size=256' });
    const crash = portico.ended.then(({ code, signal, stderr }) => {
      throw new Error(`the process ended with ${code ?? signal}: ${stderr.slice(-1500)}`);
    });
    crash.catch(() => {});
    const url = await portico.ready;
    const result = await Promise.race([work(url).catch((error) => Promise.race([crash, sleep(500, error)])), crash]);
    if (result instanceof Error) throw result;
    expect((await portico.stop()).code).to.equal(0);
    return result as T;
  });
}
