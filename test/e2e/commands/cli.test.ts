import { createServer } from 'node:http';
import { expect } from 'chai';
import { listen } from '../../support/listening.ts';
import { linesIn } from '../../support/process/json-lines.ts';
import {
  MAIN,
  newFolder,
  porticoEnvironment,
  runPortico,
  settingsFile,
  startProcess,
  writeSettings,
} from '../../support/process/process.ts';
import { NAMES } from '../../support/resources.ts';

const UPSTREAMS = `
upstreams:
${NAMES.map((name) => `  ${name}: { baseUrl: http://127.0.0.1:9 }\n`).join('')}`;

/** Its last line compares two fields, where a text was meant. */
const DOUBTFUL = `scheme: acme
resources:
  tools: { pagination: { kind: none }, where: type == tab }`;

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  projects: ['id', 'name', 'description', 'createTime'],
  workflows: ['id', 'name', 'description', 'triggerType', 'status'],
  tools: ['id', 'name', 'version', 'category', 'description'],
};

describe('the command line', () => {
  it('check warns of likely mistakes on standard error, beside all settings with secrets masked', async () => {
    const upstreams = `${UPSTREAMS.trimEnd().slice(0, -2)}, headers: { X-Api-Key: '\${KEY}' } }\n`;
    const file = await settingsFile(`${DOUBTFUL}${upstreams}`);
    const KEY = 'very-secret';
    const { code, stdout, stderr } = await runPortico(['check', '--config', file, '--full'], { KEY }).ended;
    expect(code).to.equal(0);
    expect(stdout.split('\n')[0]).to.equal(`# ${file}: OK: offers ${NAMES.join(', ')}`);
    expect(stdout).to.contain('timeoutMs: 10000').and.contain('X-Api-Key').and.not.contain(KEY);
    expect(stderr).to.match(/^[^\n]*portico\.yaml:3:47: warning: resources\.tools\.where: type == tab [^\n]*\n$/);
  });

  it('reads portico.yaml of the working folder by default, lists all mistakes, and asks for it where there is none', async () => {
    const folder = await newFolder();
    const run = () => startProcess(process.execPath, [MAIN], { cwd: folder, env: porticoEnvironment() }).ended;
    const none = await run();
    expect(none).to.deep.include({ code: 2, stdout: '' });
    expect(none.stderr).to.match(/^portico\.yaml: cannot be read: no such file or directory\nportico --demo serves /);
    const yaml = 'scheme: 5\nhttp: { prot: 80 }\nupstreams: { tools: { baseUrl: http://a.example } }';
    await writeSettings(folder, yaml);
    const { code, stderr } = await run();
    expect(code).to.equal(2);
    expect(stderr.split('\n')).to.deep.equal([
      'portico.yaml:1:9: scheme: must be text: put it in quotes',
      'portico.yaml:2:9: http.prot: Unrecognized key; did you mean port?',
      '',
    ]);
  });

  it('rejects unknown arguments with a reason, and names the option that shows its usage', async () => {
    const { code, stdout, stderr } = await runPortico(['frobnicate']).ended;
    expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
    expect(stderr).to.match(/^portico: unknown command frobnicate; portico --help [^\n]*\n$/);
  });

  it('serve warns of them in its log, and exits with one line when the port is taken, which names the setting', async () => {
    const { port } = await listen(createServer());
    const file = await settingsFile(`${DOUBTFUL}${UPSTREAMS}http: { port: ${port} }\nadmin: { port: 0 }\n`);
    const { code, stdout, stderr } = await runPortico(['serve', file]).ended;
    expect(code).to.equal(1);
    const [line] = linesIn(stdout);
    expect(line).to.include({ level: 'warn', msg: 'settings doubtful', setting: 'resources.tools.where', line: 3 });
    expect(stderr)
      .to.match(/^[^\n]+\n$/)
      .and.contain(`portico: cannot listen on 127.0.0.1:${port} (EADDRINUSE); the address is in use: set http.port`);
  });

  it('exits with one line that says what a socket needs, or which host was not found', async () => {
    const at = async (http: string) => {
      const file = await settingsFile(`${UPSTREAMS}http: { ${http} }\nadmin: { port: 0 }\n`);
      return (await runPortico(['serve', file]).ended).stderr;
    };
    expect(await at('socketPath: /nowhere/socket')).to.equal(
      'portico: cannot listen on /nowhere/socket (EACCES); its folder must exist and be writable, and nothing else may be at this path\n',
    );
    expect(await at('host: name.invalid, allowedHosts: [a]')).to.match(/cannot listen on http\.host \(E[A-Z_]+\)\n$/);
  });

  it('refuses a Node that is too old, in one line', async () => {
    const older = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.19.0' } });";
    const module = `data:text/javascript,${encodeURIComponent(older)}`;
    const NODE_OPTIONS = `${process.env['NODE_OPTIONS'] ?? ''} --import ${module}`;
    const { code, stdout, stderr } = await runPortico(['--version'], { NODE_OPTIONS }).ended;
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.match(/^portico: [^\n]*22\.20[^\n]*\n$/);
  });

  it('serves the demo, with lists over several pages in the documented shape', async () => {
    const portico = runPortico(['--demo'], { PORT: '0', ADMIN_PORT: '0' });
    const url = await portico.ready;
    for (const [name, fields] of Object.entries(FIELDS)) {
      const headers = { authorization: 'Bearer demo-alice' };
      const response = await fetch(`${url}/mcp/v1/resources/read?uri=platform://${name}`, { headers });
      const items = (await response.json()) as Record<string, unknown>[];
      expect(items.length).to.be.greaterThan(5);
      for (const item of items) {
        expect(item).to.have.all.keys(fields);
        for (const value of Object.values(item)) expect(value).to.be.a('string');
      }
    }
    const { code, stdout } = await portico.stop();
    expect(code).to.equal(0);
    expect(stdout).to.match(new RegExp(`^\\s*curl .*${url}/mcp/v1/resources`, 'm'));
  });
});
