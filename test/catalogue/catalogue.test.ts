import { expect } from 'chai';
import { createCatalogue } from '../../src/catalogue/catalogue.ts';
import type { Caller } from '../../src/kernel/caller.ts';
import { GatewayError } from '../../src/kernel/errors.ts';
import { RESOURCES } from '../../src/resources/index.ts';
import { define } from '../../src/resources/resource.ts';
import type { Load } from '../../src/snapshots/load.ts';
import { createSnapshotWriter } from '../../src/snapshots/snapshot-writer.ts';
import { callerWith } from '../support/caller.ts';

function catalogueOf(load: (name: string, caller: Caller) => Promise<Load>) {
  return createCatalogue(
    RESOURCES.map((resource) => ({
      name: resource.name,
      definition: define(resource, 'platform'),
      source: { load: (caller: Caller) => load(resource.name, caller), fresh: () => undefined },
    })),
  );
}

describe('the catalogue', () => {
  it('lists the three definitions as bytes', () => {
    const { list } = catalogueOf(() => Promise.reject(new Error('not asked')));
    const definitions = JSON.parse(list.bytes.toString());
    expect(definitions.map(({ uri }: { uri: string }) => uri)).to.deep.equal([
      'platform://projects',
      'platform://workflows',
      'platform://tools',
    ]);
    expect(list.count).to.equal(3);
  });

  it('finds the resource behind a uri', () => {
    expect(catalogueOf(() => Promise.reject(new Error('not asked'))).find('platform://workflows')).to.equal(
      'workflows',
    );
  });

  for (const uri of ['platform://users', 'PLATFORM://tools', 'platform://tools/', 'tools', '__proto__', '']) {
    it(`names the three where nothing is behind the uri ${JSON.stringify(uri)}`, () => {
      const { find } = catalogueOf(() => Promise.reject(new Error('not asked')));
      expect(() => find(uri))
        .to.throw(GatewayError)
        .that.includes({
          code: 'resource_unknown',
          detail: 'No resource has this uri. There are: platform://projects, platform://workflows, platform://tools.',
        });
    });
  }

  it('reads one resource for one caller', async () => {
    const load: Load = { snapshot: createSnapshotWriter(0).finish(), upstreamMs: 1, pages: 1, dropped: 0 };
    const asked: [string, Caller][] = [];
    const catalogue = catalogueOf(async (name, caller) => {
      asked.push([name, caller]);
      return load;
    });
    const caller = callerWith();
    expect(await catalogue.read('tools', caller, new AbortController().signal)).to.equal(load);
    expect(asked).to.deep.equal([['tools', caller]]);
  });
});
