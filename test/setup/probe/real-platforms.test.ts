import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { loadSettings } from '../../../src/composition.ts';
import { probe } from '../../../src/setup/probe/probe-command.ts';
import type { ResourceReport } from '../../../src/setup/probe/probe-report.ts';
import { ITEMS, PAGED_LISTS, servePagedList } from '../../support/platform/example-platforms.ts';
import { inFolder } from '../../support/process/process.ts';
import { TOKEN } from './probed.ts';

/** What a probe by these settings says of the one resource that they offer. */
function probed(settings: object): Promise<ResourceReport | undefined> {
  return inFolder(async (folder) => {
    const file = join(folder, 'portico.yaml');
    await writeFile(file, stringify(settings));
    const { resources } = await probe(file, await loadSettings(file, { PORTICO_TOKEN: TOKEN }));
    return resources[0];
  });
}

/** Examples whose replies do not show the parameter for the page. */
const SILENT = ['dependency-track'];

describe('a probe of a real platform whose paging settings leave out', () => {
  for (const list of PAGED_LISTS) {
    const [example, resource] = list;
    const isSilent = SILENT.includes(example);
    it(`${isSilent ? 'finds none' : 'suggests paging'} that reads ${resource} of ${example} whole`, async () => {
      const settings = await servePagedList(list);
      const { ok, suggestions = [] } = (await probed(settings({ kind: 'none' }))) ?? {};
      expect(ok).to.equal(false);
      const proposed = suggestions.map(({ value }) => parse(value));
      // What the platform ignores is not proposed.
      expect(proposed.length === 0).to.equal(isSilent);
      const read = await Promise.all(proposed.map(async (pagination) => (await probed(settings(pagination)))?.items));
      expect(read.includes(ITEMS), JSON.stringify(proposed)).to.equal(!isSilent);
    });
  }
});
