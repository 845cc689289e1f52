import { join } from 'node:path';
import { expect } from 'chai';
import { type DemoPlatform, startDemoPlatform } from '../../../src/demo/platform.ts';
import { expectedFailures, expectedFailuresFile } from '../../core/mcp/conformance/expected-failures.ts';
import { runSuite, scenarios, type Verdict } from '../../core/mcp/conformance/suite.ts';
import { type BearerProxy, type Passed, startBearerProxy } from '../../support/authorization/bearer-proxy.ts';
import { newFolder, runPortico, writeSettings } from '../../support/process/process.ts';

/** How much the suite holds at each revision: a run that looked at less is no run. A newer suite may bring more. */
const REVISIONS = {
  '2025-11-25': { scenarios: 33, passed: 36, failed: 27 },
  '2026-07-28': { scenarios: 40, passed: 93, failed: 39 },
};

/** How an unknown tool, prompt or resource is refused: the method is not there, or what it names is not. */
const REFUSALS = [-32601, -32602, -32002];

const FAILED = ['FAILURE', 'WARNING'];

describe('the conformance suite of the protocol', function () {
  this.timeout(300_000);
  let platform: DemoPlatform;

  before(async () => {
    platform = await startDemoPlatform();
  });

  after(() => platform.close());

  for (const [revision, counts] of Object.entries(REVISIONS)) {
    describe(`at revision ${revision}`, () => {
      const expected = expectedFailures(revision);
      let proxy: BearerProxy;
      let verdict: Verdict;

      before(async () => {
        const folder = await newFolder();
        proxy = await startBearerProxy('demo-alice');
        const portico = runPortico(['serve', '--config', await writeSettings(folder, settings(platform, proxy))]);
        try {
          proxy.lead(await portico.ready);
          const results = join(folder, 'results');
          verdict = await runSuite(`http://${proxy.host}/mcp`, revision, expectedFailuresFile(revision), results);
        } finally {
          expect(await portico.stop()).to.include({ code: 0, stderr: '' });
          await proxy.close();
        }
      });

      it('finds the expected failures only', () => {
        expect(verdict.exitCode, verdict.summary).to.equal(0);
      });

      it('runs every scenario that there is', async () => {
        const all = await scenarios(revision);
        expect([...verdict.checks.keys()]).to.have.members(all);
        expect(all).to.have.length(counts.scenarios);
      });

      it('runs at least as many checks as before', () => {
        const statuses = [...verdict.checks.values()].flat().map(({ status }) => status);
        const passed = statuses.filter((status) => status === 'SUCCESS').length;
        const failed = statuses.filter((status) => FAILED.includes(status)).length;
        expect({ passed, failed }).to.deep.equal({ passed: counts.passed, failed: counts.failed });
      });

      it('has exactly the expected failures', () => {
        const failures = [...verdict.checks].flatMap(([scenario, checks]) =>
          checks.filter(({ status }) => FAILED.includes(status)).map(({ id }) => `${scenario}:${id}`),
        );
        expect(failures).to.have.members(expected.map(({ scenario, check }) => `${scenario}:${check}`));
      });

      it('causes no internal error', () => {
        const isFault = ({ status, response }: Passed) => status >= 500 || errorsOf(response).includes(-32603);
        expect(proxy.passed.filter(isFault)).to.deep.equal([]);
        expect(proxy.passed).not.to.have.length(0);
      });

      for (const { scenario, check, reason } of expected) {
        if (reason.kind === 'unclaimed') {
          it(`fails ${check} without ${reason.name}, which Portico does not offer`, () => {
            expect(claims(proxy.passed)).to.include('resources').and.not.include(reason.name);
          });
          continue;
        }
        it(`fails ${check} of ${scenario} without ${reason.name}, a fixture`, () => {
          const asked = proxy.passed.filter(({ sent }) => sent.includes(`"${reason.name}"`));
          const message = verdict.checks.get(scenario)?.find(({ id }) => id === check)?.errorMessage ?? '';
          if (asked.length === 0) expect(message).to.contain(reason.name);
          for (const { response } of asked)
            expect(errorsOf(response).map((code) => REFUSALS.includes(code))).to.deep.equal([true]);
        });
      }
    });
  }
});

/** Settings of a gateway that answers for the proxy's name, and for web pages that come from there. */
function settings({ urls }: DemoPlatform, { host }: BearerProxy): string {
  return `
http: { port: 0, allowedOrigins: ['http://${host}'] }
admin: { enabled: false }
upstreams:
  projects: { baseUrl: '${urls.projects}' }
  workflows: { baseUrl: '${urls.workflows}' }
  tools: { baseUrl: '${urls.tools}' }
`;
}

/** Codes of the JSON-RPC errors in a body, be it JSON or an event stream. */
function errorsOf(body: string): number[] {
  return messagesOf(body).flatMap(({ error }) => (error === undefined ? [] : [error.code]));
}

/** Optional parts of the protocol that the server says it has: capabilities, and sessions. */
function claims(passed: readonly Passed[]): string[] {
  const capabilities = passed
    .flatMap(({ response }) => messagesOf(response))
    .flatMap(({ result }) => Object.keys(result?.capabilities ?? {}));
  const sessions = passed.some(({ headers }) => 'mcp-session-id' in headers) ? ['sessions'] : [];
  return [...new Set(capabilities), ...sessions];
}

interface Message {
  readonly error?: { readonly code: number };
  readonly result?: { readonly capabilities?: object };
}

function messagesOf(body: string): Message[] {
  const texts = body.startsWith('{') ? [body] : [...body.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => data);
  return texts.map((text) => JSON.parse(text));
}
