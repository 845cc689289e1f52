import { expect } from 'chai';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { createCatalogue } from '../../../../src/core/reads/catalogue/catalogue.ts';
import { RESOURCES } from '../../../../src/core/resources/index.ts';
import { define } from '../../../../src/core/resources/resource.ts';
import { callerWith } from '../../../support/authorization/caller.ts';
import { type CatalogueRead, catalogueOf } from '../../../support/catalogue.ts';
import { loadOf } from '../../../support/platform/loads.ts';
import { URIS } from '../../../support/resources.ts';
import { errorOf, never } from '../snapshots/departures.ts';

describe('the catalogue', () => {
  it('lists the definitions as bytes, and as data, in the order of the registry', () => {
    const { list, offered } = catalogueOf();
    const definitions = JSON.parse(list.bytes.toString());
    expect(definitions.map(({ uri }: { uri: string }) => uri)).to.deep.equal(URIS);
    expect(list.count).to.equal(URIS.length);
    expect(offered.map(({ definition }) => definition)).to.deep.equal(definitions);
    expect(offered.map(({ resource }) => resource)).to.deep.equal([...RESOURCES]);
  });

  it('reads only resources that are offered', async () => {
    const [projects] = RESOURCES;
    const catalogue = createCatalogue([
      {
        resource: projects,
        definition: define(projects, 'acme'),
        upstream: 'platform',
        known: {},
        requiredScopes: [],
        read: async () => loadOf(),
      },
    ]);
    expect(catalogue.list.count).to.equal(1);
    const unknown = { detail: 'No resource has this uri. There are: acme://projects.' };
    expect(() => catalogue.find('acme://tools'))
      .to.throw(GatewayError)
      .that.includes(unknown);
    expect(await errorOf(catalogue.read('tools', callerWith(), { signal: never }))).to.include(unknown);
  });

  it('reads one resource for one caller', async () => {
    const load = loadOf();
    const asked: CatalogueRead[] = [];
    const catalogue = catalogueOf((read) => {
      asked.push(read);
      return load;
    });
    const caller = callerWith();
    const { signal } = new AbortController();
    expect(await catalogue.read('tools', caller, { signal })).to.equal(load);
    expect(await catalogue.read('tools', caller, { signal, noCache: true })).to.equal(load);
    expect(asked[0]).to.deep.include({ name: 'tools', caller, signal, noCache: false });
    expect(asked[1]).to.deep.include({ name: 'tools', noCache: true });
  });
});
