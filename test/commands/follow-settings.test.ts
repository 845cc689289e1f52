import { expect } from 'chai';
import { followSettings } from '../../src/commands/follow-settings.ts';
import { captureLog } from '../observability/captured-log.ts';
import { inFolder, writeSettings } from '../support/process.ts';

const SETTINGS = 'upstreams: { tools: { baseUrl: "https://platform.example" } }\n';

describe('who follows a settings file', () => {
  it('goes on where a bug keeps settings from being taken, and says where it is, not what it says', async () => {
    await inFolder(async (folder) => {
      const { logger, lines, text } = captureLog();
      const ending = new AbortController();
      let changes = 0;
      const gateway = {
        change() {
          changes += 1;
          if (changes === 1) throw new TypeError('text-from-outside');
          return { applied: [], needRestart: [] };
        },
      };
      const file = await writeSettings(folder, SETTINGS);
      const read = followSettings({ file, gateway, logger, watch: false, onChange: () => {}, signal: ending.signal });
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
  });

  it('reads it once for all who ask while it is being read, so that no storm of signals makes a queue', async () => {
    await inFolder(async (folder) => {
      const { logger, lines } = captureLog();
      const file = await writeSettings(folder, SETTINGS);
      const gateway = { change: () => ({ applied: [], needRestart: [] }) };
      const { signal } = new AbortController();
      const read = followSettings({ file, gateway, logger, watch: false, onChange: () => {}, signal });
      const first = read();
      await Promise.resolve();
      await Promise.all([first, ...Array.from({ length: 100 }, read)]);
      expect(lines()).to.have.length(2);
      await read();
      expect(lines()).to.have.length(3);
    });
  });
});
