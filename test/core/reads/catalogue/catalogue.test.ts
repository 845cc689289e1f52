import { expect } from 'chai';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { createCatalogue } from '../../../../src/core/reads/catalogue/catalogue.ts';
import { RESOURCES } from '../../../../src/core/resources/index.ts';
import { define } from '../../../../src/core/resources/resource.ts';
import { callerWith } from '../../../support/authorization/caller.ts';
import { catalogueOf } from '../../../support/catalogue.ts';
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
});
