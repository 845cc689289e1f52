import { expect } from 'chai';
import { loadSettings } from '../../../src/composition.ts';
import { startDemoPlatform } from '../../../src/demo/platform.ts';
import { probe } from '../../../src/setup/probe/probe-command.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { settingsFile } from '../../support/process/process.ts';

describe('the default contract as the demo serves it gives no false alarm', () => {
  for (const maxPageSize of [2, 100]) {
    it(`in pages of ${maxPageSize} at most`, async () => {
      const { urls, close } = await startDemoPlatform({ maxPageSize });
      onCleanup(close);
      const upstreams = Object.entries(urls).map(([name, baseUrl]) => [name, { baseUrl }]);
      const file = await settingsFile(JSON.stringify({ upstreams: Object.fromEntries(upstreams) }));
      const loaded = await loadSettings(file, { PORTICO_TOKEN: 'demo-alice' });
      const { ok, resources } = await probe(file, loaded, { strict: true });
      expect(resources.flatMap(({ warnings, notTried }) => [...warnings, ...notTried])).to.deep.equal([]);
      expect(ok).to.equal(true);
    });
  }
});
