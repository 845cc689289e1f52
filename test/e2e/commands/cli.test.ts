import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { listen } from '../../support/listening.ts';
import { linesIn } from '../../support/process/json-lines.ts';
import {
  inFolder,
  MAIN,
  porticoEnvironment,
  runPortico,
  startProcess,
  writeSettings,
} from '../../support/process/process.ts';
import { NAMES } from '../../support/resources.ts';

const UPSTREAMS = `
upstreams:
${NAMES.map((name) => `  ${name}: { baseUrl: http://127.0.0.1:9 }\n`).join('')}`;

describe('the command line', () => {
  it('prints its usage for --help, with an example of each command', async () => {
    const { code, stdout } = await runPortico(['--help']).ended;
    expect(code).to.equal(0);
    expect(stdout).to.match(/^Usage:/);
    const words = (pattern: RegExp) => [...stdout.matchAll(pattern)].map(([, command]) => command);
    const commands = words(/^ {2}portico (\S+)/gm);
    expect(commands).to.include.members(['serve', 'stdio', 'check', 'schema', '--demo']);
    expect([...new Set(words(/^ {10,}(?:\w+=\S+ )*portico (\S+)/gm))]).to.deep.equal(
      commands.filter((name) => name !== '--help'),
    );
  });

  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const [what, command, expected] of [
    ['the version of the package', '--version', `${version}\n`],
    ['the committed JSON Schema', 'schema', readFileSync('config/schema.json', 'utf8')],
  ] as const) {
    it(`prints ${what} for ${command}`, async () => {
      expect(await runPortico([command]).ended).to.deep.include({ code: 0, stdout: expected });
    });
  }

  it('warns of likely mistakes: check on standard error, serve in its log', async () => {
    await inFolder(async (folder) => {
      const settings = `http: { port: 0 }\nadmin: { enabled: false }\nresources:\n  tools: { pagination: { kind: none }, where: type == tab }${UPSTREAMS}`;
      const file = await writeSettings(folder, settings);
      const { code, stdout, stderr } = await runPortico(['check', file]).ended;
      expect({ code, stdout }).to.deep.equal({ code: 0, stdout: `${file}: OK: offers ${NAMES.join(', ')}\n` });
      expect(stderr).to.match(/^[^\n]*portico\.yaml:4:47: warning: resources\.tools\.where: type == tab [^\n]*\n$/);
      const served = runPortico(['serve', file]);
      await served.ready;
      const lines = linesIn((await served.stop()).stdout);
      expect(lines[0]).to.include({
        level: 'warn',
        msg: 'settings doubtful',
        setting: 'resources.tools.where',
        line: 4,
      });
      expect(lines[0].warning).to.contain("type == 'tab'");
    });
  });

  it('prints the effective settings for check --full, secrets masked', async () => {
    await inFolder(async (folder) => {
      const file = await writeSettings(
        folder,
        `${UPSTREAMS.replace('tools: { baseUrl: http://127.0.0.1:9 }', "tools: { baseUrl: http://127.0.0.1:9, headers: { X-Api-Key: '${KEY}' } }")}`,
      );
      const { code, stdout } = await runPortico(['check', '--config', file, '--full'], { KEY: 'very-secret' }).ended;
      expect(code).to.equal(0);
      expect(stdout.split('\n')[0]).to.equal(`# ${file}: OK: offers ${NAMES.join(', ')}`);
      expect(stdout).to.contain('timeoutMs: 10000').and.contain('X-Api-Key').and.not.contain('very-secret');
    });
  });

  const runIn = (folder: string, command: string) =>
    startProcess(process.execPath, [MAIN, command], { cwd: folder, env: porticoEnvironment() }).ended;

  for (const command of ['serve', 'check']) {
    it(`reads portico.yaml of the working folder by default, and lists all mistakes: ${command}`, async () => {
      await inFolder(async (folder) => {
        await writeSettings(
          folder,
          'scheme: 5\nhttp: { prot: 80 }\nupstreams: { tools: { baseUrl: http://a.example } }',
        );
        const wrong = [
          '1:9: scheme: must be text: put it in quotes',
          '2:9: http.prot: Unrecognized key; did you mean port?',
        ];
        const stderr = wrong.map((issue) => `portico.yaml:${issue}\n`).join('');
        expect(await runIn(folder, command)).to.deep.include({ code: 2, stderr });
      });
    });
  }

  it('asks for a settings file where the working folder has none', async () => {
    await inFolder(async (folder) => {
      expect(await runIn(folder, 'serve')).to.deep.include({
        code: 2,
        stdout: '',
        stderr: `portico.yaml: cannot be read: no such file or directory
portico --demo serves a demo platform, and portico init writes a first portico.yaml from an OpenAPI document.
`,
      });
    });
  });

  it('rejects unknown arguments with a reason, and names the option that shows its usage', async () => {
    const { code, stdout, stderr } = await runPortico(['frobnicate']).ended;
    expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
    expect(stderr).to.equal(
      'portico: unknown command frobnicate; portico --help lists the commands and their options\n',
    );
  });

  type Ports = Readonly<Record<'http' | 'admin', number>>;
  const serve = ({ http, admin }: Ports) =>
    inFolder(async (folder) => {
      const yaml = `http: { port: ${http} }\nadmin: { port: ${admin} }\n${UPSTREAMS}`;
      return runPortico(['serve', await writeSettings(folder, yaml)]).ended;
    });
  const demo = ({ http, admin }: Ports) => runPortico(['--demo'], { PORT: `${http}`, ADMIN_PORT: `${admin}` }).ended;
  for (const [what, run, isHttp, instead] of [
    ['port', serve, true, 'http.port in the settings, or PORT in the environment'],
    ['admin port of the demo', demo, false, 'if the settings have ${ADMIN_PORT:-NUMBER}, as those of the demo\n'],
  ] as const) {
    it(`exits with one line when the ${what} is taken`, async () => {
      const { port } = await listen(createServer());
      const { code, stderr } = await run(isHttp ? { http: port, admin: 0 } : { http: 0, admin: port });
      expect(code).to.equal(1);
      expect(stderr)
        .to.match(/^[^\n]+\n$/)
        .and.contain(`portico: cannot listen on 127.0.0.1:${port}: the address is in use (EADDRINUSE); `)
        .and.contain(instead.replace('NUMBER', String(port)));
    });
  }

  for (const [what, path, issue] of [
    ['the path of the Unix socket is another file', '', ': the address is in use (EADDRINUSE)'],
  ] as const) {
    it(`exits with one line when ${what}`, () =>
      inFolder(async (folder) => {
        const socket = join(folder, path);
        const file = await writeSettings(folder, `http: { socketPath: ${socket} }\nadmin: { port: 0 }\n${UPSTREAMS}`);
        const { code, stderr } = await runPortico(['--config', file]).ended;
        expect({ code, stderr }).to.deep.equal({ code: 1, stderr: `portico: cannot listen on ${socket}${issue}\n` });
      }));
  }
});
