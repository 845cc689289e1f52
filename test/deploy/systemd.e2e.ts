import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { inFolder, MAIN, porticoEnvironment, startProcess, writeSettings } from '../support/process/process.ts';
import { skipAloud } from '../support/tools.ts';
import { ROOT } from './kubernetes.ts';

/** Of 100: what `systemd-analyze` calls OK ends at 50. */
const MOST_EXPOSED = 20;

describe('the unit of systemd', () => {
  let text = '';

  before(async function () {
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) skipAloud(this, 'systemd-analyze is not here');
    const unit = await readFile(join(ROOT, 'deploy/systemd/portico.service'), 'utf8');
    // The path of this Node, because installations differ.
    text = unit.replaceAll(/^(Exec\w+)=\/usr\/bin\/node /gm, `$1=${process.execPath} `);
    expect(text).not.to.equal(unit);
  });

  async function analyze(unit: string, ...args: string[]) {
    return inFolder(async (folder) => {
      const file = join(folder, 'portico.service');
      await writeFile(file, unit);
      return startProcess('systemd-analyze', [...args, file]).ended;
    });
  }

  it('passes systemd-analyze verify', async () => {
    const { code, stdout, stderr } = await analyze(text, 'verify');
    expect({ code, stdout, stderr }).to.deep.equal({ code: 0, stdout: '', stderr: '' });
  });

  it('is rejected with an unknown key', async () => {
    const { stderr } = await analyze(text.replace('PrivateTmp=', 'PrivateTemp='), 'verify');
    expect(stderr).to.include('PrivateTemp');
  });

  it('has a template for processes that share a port, which differs in user and admin port alone', async () => {
    const template = await readFile(join(ROOT, 'deploy/systemd/portico@.service'), 'utf8');
    const withoutComments = (unit: string) => unit.replaceAll(/^#.*\n/gm, '');
    const one = template
      .replace('User=portico\n', '')
      .replace(' ADMIN_PORT=%i', '')
      .replace('Portico (admin port %i)', 'Portico');
    const plain = await readFile(join(ROOT, 'deploy/systemd/portico.service'), 'utf8');
    expect(withoutComments(one)).to.equal(withoutComments(plain));
  });

  it('reloads only settings that check accepts, of the file that it starts with', async () => {
    const commandsOf = (key: string) =>
      [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, all = '']) => all);
    const [check = '', signal] = commandsOf('ExecReload');
    expect(signal).to.equal('/bin/kill -HUP $MAINPID');
    expect([check.replace(' check ', ' serve ')]).to.deep.equal(commandsOf('ExecStart'));
    await inFolder(async (folder) => {
      const file = await writeSettings(folder, 'upstreams: { tools: { baseUrl: "https://platform.example" } }');
      const words = check
        .replace(/\S+main\.js/, MAIN)
        .replace('/etc/portico/portico.yaml', file)
        .split(' ');
      const reload = () => startProcess(words[0] ?? '', words.slice(1), { env: porticoEnvironment() }).ended;
      expect(await reload()).to.include({ code: 0, stderr: '' });
      await writeSettings(folder, 'upstreams: []');
      const refused = await reload();
      expect(refused.code).to.equal(2);
      expect(refused.stderr).to.contain(`${file}:1`);
    });
  });

  it(`has an exposure of at most ${MOST_EXPOSED} of 100`, async () => {
    const threshold = `--threshold=${MOST_EXPOSED}`;
    const { code, stdout } = await analyze(text, 'security', '--offline=yes', threshold);
    expect(code, stdout).to.equal(0);
    const open = text
      .replace('ProtectSystem=strict', '')
      .replace('DynamicUser=yes', '')
      .replace('CapabilityBoundingSet=', '');
    expect((await analyze(open, 'security', '--offline=yes', threshold)).code).not.to.equal(0);
  });
});
