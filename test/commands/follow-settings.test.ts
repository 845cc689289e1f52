import { statSync } from 'node:fs';
import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { followSettings } from '../../src/commands/follow-settings.ts';
import { CHECK_MS, QUIET_MS } from '../../src/core/credentials/files/watched-files.ts';
import { captureLog } from '../core/log/captured-log.ts';
import { eventually } from '../support/eventually.ts';
import { newFolder, writeSettings } from '../support/process/process.ts';

const SETTINGS = 'upstreams: { tools: { baseUrl: "https://platform.example" } }\n';

describe('who follows a settings file', () => {
  afterEach(() => mock.timers.reset());

  it('continues after a bug in a reload, and logs its place, not its message', async () => {
    const folder = await newFolder();
    const { logger, lines, text } = captureLog();
    const ending = new AbortController();
    let changes = 0;
    const gateway = {
      change() {
        changes += 1;
        if (changes === 1) throw new TypeError('text-from-outside');
        return { applied: [], needRestart: [] };
      },
      refuse() {},
    };
    const file = await writeSettings(folder, SETTINGS);
    const read = followSettings({ file, gateway, logger, watch: false, signal: ending.signal });
    await read();
    await read();
    ending.abort();
    expect(lines().map(({ level, msg, error }) => [level, msg, error])).to.deep.equal([
      ['error', 'settings not taken: a bug', 'TypeError'],
      ['info', 'settings unchanged', undefined],
    ]);
    expect(lines()[0]?.['stack']).to.contain('follow-settings.test.ts');
    expect(text()).not.to.contain('text-from-outside');
  });

  it('reads it once for all signals that arrive while it is being read', async () => {
    const folder = await newFolder();
    const { logger, lines } = captureLog();
    const file = await writeSettings(folder, SETTINGS);
    const gateway = { change: () => ({ applied: [], needRestart: [] }), refuse() {} };
    const { signal } = new AbortController();
    const read = followSettings({ file, gateway, logger, watch: false, signal });
    const first = read();
    await Promise.resolve();
    await Promise.all([first, ...Array.from({ length: 100 }, read)]);
    expect(lines()).to.have.length(2);
    await read();
    expect(lines()).to.have.length(3);
  });

  it('reads no file that is being written, and takes it once it was left alone', async () => {
    const folder = await newFolder();
    const { logger, lines } = captureLog();
    const file = await writeSettings(folder, SETTINGS);
    const gateway = { change: () => ({ applied: [], needRestart: [] }), refuse() {} };
    const ending = new AbortController();
    // The clock stands still at the time of the last change.
    mock.timers.enable({ apis: ['Date'], now: statSync(file).ctimeMs });
    followSettings({ file, gateway, logger, watch: true, signal: ending.signal });
    await sleep(2.5 * CHECK_MS);
    expect(lines()).to.deep.equal([]);
    mock.timers.tick(QUIET_MS);
    await eventually(() => lines().length === 1);
    ending.abort();
  });
});
