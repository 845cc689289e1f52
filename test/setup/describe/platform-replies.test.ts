import { expect } from 'chai';
import { RESOURCES } from '../../../src/core/resources/index.ts';
import type { Ask } from '../../../src/setup/describe/discover-parameters.ts';
import { findListings } from '../../../src/setup/describe/platform-replies.ts';

const ITEMS = [
  { id: 1, name: 'a', description: null },
  { id: 2, name: 'b', description: 'x' },
];

/** A platform that answers with these bodies by path, and keeps what it was asked for. */
function platform(bodies: Readonly<Record<string, unknown>>) {
  const asked: string[] = [];
  const ask: Ask = async (path) => {
    asked.push(path);
    const body = bodies[path];
    return { status: body === undefined ? 404 : 200, headers: new Map(), body: body ?? { error: 'no' } };
  };
  return { ask, asked };
}

async function found(bodies: Readonly<Record<string, unknown>>, path: string) {
  const { ask, asked } = platform(bodies);
  const listings = await findListings(ask, path, RESOURCES);
  return { listings, asked, paths: listings.map((each) => each.path) };
}

describe('a platform that is asked', () => {
  it('is described by the list that a person named', async () => {
    const { listings, paths } = await found({ '/v1/things': { meta: {}, things: ITEMS } }, '/v1/things');
    expect(paths).to.deep.equal(['/v1/things']);
    expect(listings[0]?.items).to.equal('things');
    const members = [...(listings[0]?.item.members ?? [])].map(([name, { type, optional }]) => [name, type, optional]);
    expect(members).to.deep.equal([
      ['id', 'number', false],
      ['name', 'text', false],
      ['description', 'text', true],
    ]);
  });

  it('is looked at below the address that a person named, by the usual names', async () => {
    const bodies = { '/api/workspaces': ITEMS, '/api/playbooks': { data: ITEMS }, '/api/tools': ITEMS };
    const { paths } = await found(bodies, '/api/');
    expect(paths).to.deep.equal(['/api/workspaces', '/api/playbooks', '/api/tools']);
  });

  it('has no list where items lack an id, are none, or are no objects', async () => {
    const bodies = { '/projects': [{ size: 1 }, { size: 2 }], '/workflows': [], '/tools': ['a', 'b'], '/apps': null };
    expect((await found(bodies, '/')).paths).to.deep.equal([]);
  });

  it('is asked for a few dozens of lists at most', async () => {
    const { asked, paths } = await found({}, '/');
    expect(paths).to.deep.equal([]);
    expect(asked.length).to.be.within(10, 60);
  });

  it('is looked at for resources of other registries by their own names', async () => {
    const { ask } = platform({ '/runbooks': ITEMS });
    const [tools] = RESOURCES.filter(({ name }) => name === 'tools');
    const listings = await findListings(ask, '/', tools === undefined ? [] : [{ ...tools, name: 'runbooks' }]);
    expect(listings.map(({ path }) => path)).to.deep.equal(['/runbooks']);
  });
});
