import { readFileSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { type HttpUpstream, json, startHttpUpstream } from '../support/platform/http-upstream.ts';
import {
  inFolder,
  MAIN,
  type PorticoProcess,
  porticoEnvironment,
  runPortico,
  startProcess,
} from '../support/process/process.ts';

const PAGE = 'docs/onboarding.md';
const ORIGIN = 'https://api.acme.example';
const TOKEN = 'acme-key-of-the-test';

const WORKSPACES = Array.from({ length: 120 }, (_, index) => ({
  workspaceId: 4711 + index,
  title: `Workspace ${index + 1}`,
  created_at: 1_767_323_045,
}));

/** The platform of the page: an API key in a header of its own, its own names, and pages by `skip`. */
const acme: RequestListener = (request, response) => {
  if (request.headers['x-api-key'] !== TOKEN) {
    json({ error: 'missing api key' }, 401, { 'www-authenticate': 'ApiKey header="X-Api-Key"' })(request, response);
    return;
  }
  const { searchParams } = new URL(request.url ?? '', ORIGIN);
  const skip = Number(searchParams.get('skip') ?? 0);
  const limit = Math.min(Number(searchParams.get('limit') ?? 50), 50);
  const workspaces = WORKSPACES.slice(skip, skip + limit);
  json({ data: { workspaces, skip, total: WORKSPACES.length } })(request, response);
};

/** The page's blocks in order: settings as they are by then, and what is typed with what comes of it. */
const blocks = [...readFileSync(PAGE, 'utf8').matchAll(/^```(yaml|console)\n(.*?)^```$/gms)].map(
  ([, language, text = '']) => ({ language, text }),
);

/** Without what differs from run to run. */
const steady = (text: string) =>
  text.replace(/\b\d+(\.\d+)? ms\b/g, 'N ms').replace(/x-request-id: \S+/g, 'x-request-id: ID');

describe('the walk of the page on onboarding', function () {
  this.timeout(60_000);
  let platform: HttpUpstream;

  before(async () => {
    platform = await startHttpUpstream(acme);
  });

  after(() => platform.close());

  it('has settings, and commands', () => {
    expect(blocks.filter(({ language }) => language === 'yaml')).to.have.length.greaterThan(2);
    expect(blocks.filter(({ language }) => language === 'console')).to.have.length.greaterThan(3);
  });

  it('works as written', async () => {
    await inFolder(async (folder) => {
      let portico: PorticoProcess | undefined;
      for (const { language, text } of blocks) {
        if (language === 'yaml') {
          writeFileSync(join(folder, 'portico.yaml'), text.replace(ORIGIN, platform.url));
          continue;
        }
        const [line = '', ...rest] = text.split('\n');
        const [, program, words = ''] = /^\$ (portico|curl) ?(.*)$/.exec(line) ?? [];
        let shown: string;
        if (program === 'curl') {
          const ports = 'http: { port: 0 }\nadmin: { port: 0 }\n';
          const file = join(folder, 'served.yaml');
          writeFileSync(file, ports + readFileSync(join(folder, 'portico.yaml'), 'utf8'));
          portico ??= runPortico(['serve', file]);
          const path = /'http:\/\/127\.0\.0\.1:8080(\S+)'/.exec(words)?.[1];
          const response = await fetch((await portico.ready) + path, { headers: { authorization: `Bearer ${TOKEN}` } });
          const [first, second] = (await response.json()) as object[];
          shown = `${JSON.stringify([first, second]).slice(0, -1)},…\n`;
        } else {
          expect(program, line).to.equal('portico');
          const args = [MAIN, ...words.split(' ')];
          const env = porticoEnvironment({ PORTICO_TOKEN: TOKEN });
          const { stdout, stderr } = await startProcess(process.execPath, args, { cwd: folder, env }).ended;
          shown = stderr + stdout;
        }
        expect(steady(shown.replaceAll(platform.url, ORIGIN)), line).to.equal(steady(rest.join('\n')));
      }
      expect((await portico?.stop())?.code).to.equal(0);
    });
  });
});
