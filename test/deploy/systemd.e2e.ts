import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { inFolder, startProcess } from '../support/process/process.ts';
import { skipAloud } from '../support/tools.ts';
import { ROOT } from './kubernetes.ts';

/** Of 100: what `systemd-analyze` calls OK ends at 50. */
const MOST_EXPOSED = 20;

describe('the unit of systemd', () => {
  let text = '';

  before(async function () {
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) skipAloud(this, 'systemd-analyze is not here');
    const unit = await readFile(join(ROOT, 'deploy/systemd/portico.service'), 'utf8');
    // A program that there is: where Node is installed differs.
    text = unit.replace('ExecStart=/usr/bin/node', `ExecStart=${process.execPath}`);
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
