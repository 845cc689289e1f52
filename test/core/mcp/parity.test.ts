import { expect } from 'chai';
import type { CoreSettingsInput } from '../../../src/core/config/schema/settings.ts';
import { ERRORS } from '../../../src/core/kernel/error-table.ts';
import { eventually } from '../../support/eventually.ts';
import { settingsFor } from '../../support/gateway.ts';
import { type HttpUpstream, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { ARGUMENTS, answers, type Behaviour, CASES, type Case } from './parity/cases.ts';
import type { Outcome } from './parity/outcome.ts';
import { type Opened, TOOL_WAYS, WAYS, type Way } from './parity/ways.ts';

const LEGACY_NOT_FOUND = -32002;
/** Between two cases: longer than a list is served. */
const HOURS_MS = 10_800_000;
/** Of the gateway that several cases share: none of them changes what the next one comes to. */
const SHARED: Case['upstream'] = { breaker: { minimumCalls: 1000 }, rememberRejectedMs: 0 };

describe('a read has the same result over HTTP, MCP and stdio', () => {
  let platform: HttpUpstream;
  let behave: Behaviour;
  let asked: number;
  let clock = 1_800_000_000_000;

  before(async () => {
    platform = await startHttpUpstream((request, response) => {
      asked += 1;
      behave(response, /^\/v1\/(\w+)/.exec(request.url ?? '')?.[1] ?? '', asked);
    });
  });

  beforeEach(() => {
    behave = answers;
    asked = 0;
    clock += HOURS_MS;
  });

  function settingsOf({ upstream, isOneForAll = false }: Partial<Case>): CoreSettingsInput {
    const own = { retry: { attempts: 0 }, timeoutMs: 20_000, ...upstream };
    const settings = settingsFor(platform.url, { upstream: own, shutdown: { graceMs: 1 } });
    if (!isOneForAll) return settings;
    const from = { upstream: 'tools' };
    const upstreams = { tools: { baseUrl: platform.url, ...own } };
    return { ...settings, upstreams, resources: { projects: from, workflows: from } };
  }

  const open = (way: Way, one: Partial<Case>) => way(settingsOf(one), () => clock);

  /** Takes the steps of a case, and gives what the last one comes to. */
  async function run({ steps }: Case, { read }: Opened): Promise<Outcome> {
    let last: Outcome = {};
    for (const { uri, afterMs = 0, platform: next, held, ...reading } of steps) {
      clock += afterMs;
      behave = next ?? behave;
      const outcome = read(uri, reading);
      if (held !== true) last = await outcome;
      else outcome.catch(() => {});
      if (held === true) await eventually(() => asked > 0);
    }
    return last;
  }

  /** The same with a gateway of its own. */
  async function runAlone(one: Case, way: Way): Promise<Outcome> {
    const opened = await open(way, one);
    return run(one, opened).finally(opened.close);
  }

  function check(one: Case, way: string, { text, ttlMs, provenance, error }: Outcome): void {
    if (one.list !== undefined) {
      const name = one.steps.at(-1)?.uri?.slice('platform://'.length) ?? '';
      expect(error).to.equal(undefined);
      expect(text).to.equal(expectedText(name, one.list.answer));
      // Only 2026-07-28 has ttlMs.
      expect(ttlMs).to.equal(way.includes('2025') ? undefined : one.list.ttlMs);
      const { stale = false } = one.list;
      const reason = stale !== true && stale !== false && { staleReason: stale };
      // An HTTP read has its ETag, Age and Cache-Status.
      if (way !== 'HTTP read') expect(provenance).to.include({ upstream: name, stale: stale !== false, ...reason });
    } else if (one.error !== undefined) {
      const { code, upstream, retryAfterSeconds } = one.error;
      expect(error).to.deep.equal({ code, upstream, retryAfterSeconds, number: numberOf(code, way) });
    }
    if (one.requests !== undefined) expect(asked).to.equal(one.requests);
  }

  for (const [name, way] of Object.entries(WAYS)) {
    describe(name, () => {
      let shared: Opened;
      before(async () => {
        shared = await open(way, { upstream: SHARED });
      });
      after(() => shared.close());

      for (const one of CASES) {
        if (one.httpOnly === true && name.startsWith('stdio')) continue;
        const isAlone = one.alone ?? one.upstream !== undefined;
        it(one.what, async () => check(one, name, await (isAlone ? runAlone(one, way) : run(one, shared))));
      }
    });
  }
});

describe('a tool has the same results over HTTP and over stdio', () => {
  const settled = (text = '') => text.replace(/request [\w-]+\)$/, 'request)');

  it('for each form of its arguments', async () => {
    const platform = await startHttpUpstream((_request, response) => {
      response.end(JSON.stringify({ tools: [1, 2].map((id) => ({ id: `${id}`, name: 'a\u200b', category: 'b' })) }));
    });
    let expected: readonly string[] | undefined;
    for (const [name, way] of Object.entries(TOOL_WAYS)) {
      const opened = await way(settingsFor(platform.url), Date.now);
      const textFor = async (args: object) =>
        settled((await opened.read({ name: 'list_installed_tools', arguments: args })).text);
      const texts: string[] = [];
      for (const [given, same] of ARGUMENTS) {
        texts.push(await textFor(given));
        expect(texts.at(-1), name).to.equal(await textFor(same));
      }
      texts.push(await textFor({ sort: 'size', limit: '-1' }));
      expect(texts.at(-1), name).to.match(/^invalid_params: sort: .*"-version".* limit: /);
      expected ??= texts;
      expect(texts, name).to.deep.equal(expected);
      await opened.close();
    }
  });
});

/** The documented shape of the platform's n-th answer. */
function expectedText(name: string, number: number): string {
  const item = { id: `${name}-${number}`, name: 'Ä "quoted" \u2028' };
  const rest =
    name === 'projects' ? { description: '', createTime: '' } : { version: '', category: '', description: '' };
  return JSON.stringify([{ ...item, ...rest }]);
}

/** The number for a code: an HTTP status where HTTP reports it, or else the JSON-RPC code. */
function numberOf(code: keyof typeof ERRORS, way: string): number {
  const row: { readonly status: number; readonly rpc?: number } = ERRORS[code];
  if (way === 'HTTP read' || row.status === 401 || row.status === 403) return row.status;
  if (code === 'resource_unknown' && way.includes('2025')) return LEGACY_NOT_FOUND;
  return row.rpc ?? 0;
}
