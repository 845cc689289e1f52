import { expect } from 'chai';
import projects from '../../src/demo/data/projects.json' with { type: 'json' };
import tools from '../../src/demo/data/tools.json' with { type: 'json' };
import workflows from '../../src/demo/data/workflows.json' with { type: 'json' };
import { type Api, get, getAll, getPage, getPages, withPlatform } from './lists.ts';

describe('a demo API', () => {
  it('gives every item exactly once, in order, over small pages', () =>
    withPlatform(async (urls) => {
      const whole = {
        projects: projects.filter((project) => project.tenants.includes('harbour-bank')),
        workflows,
        tools,
      };
      for (const [api, items] of Object.entries(whole)) {
        const pages = await getPages(urls, api as Api, { pageSize: '100' });
        expect(pages.flatMap((page) => page.items)).to.deep.equal(items);
        expect(
          pages.slice(0, -1).every((page) => page.items.length === 5),
          api,
        ).to.equal(true);
        expect(pages.length).to.be.greaterThan(1);
      }
    }));

  it('takes a page size, and its own for 0 or none', () =>
    withPlatform(async (urls) => {
      for (const [pageSize, length] of Object.entries({ 2: 2, 0: 5, 100: 5 })) {
        expect((await getPage(urls, 'tools', { pageSize })).items).to.have.length(length);
      }
      expect((await getPage(urls, 'tools')).items).to.have.length(5);
      expect(await getAll(urls, 'tools', { pageSize: '3' })).to.deep.equal(tools);
    }));

  it('filters workflows and tools by whether they are installed', () =>
    withPlatform(async (urls) => {
      for (const [api, items] of Object.entries({ workflows, tools })) {
        for (const installed of [true, false]) {
          const expected = items.filter((item) => item.installed === installed);
          expect(await getAll(urls, api as Api, { installed: String(installed) })).to.deep.equal(expected);
          expect(expected).to.have.length.greaterThan(0);
        }
      }
    }));

  it('ignores the filter where nothing can be installed', () =>
    withPlatform(async (urls) => {
      expect(await getAll(urls, 'projects', { installed: 'true' })).to.deep.equal(await getAll(urls, 'projects'));
    }));

  it('shows each tenant its own projects, and one that they share', () =>
    withPlatform(async (urls) => {
      const ids = async (token: string) => (await getAll(urls, 'projects', {}, token)).map((project) => project['id']);
      const alice = await ids('demo-alice');
      const bob = await ids('demo-bob');
      expect(alice.filter((id) => bob.includes(id))).to.deep.equal(['shared-threat-intel']);
      expect(new Set([...alice, ...bob])).to.have.property('size', projects.length);
    }));

  it('refuses a page token that is made up, or of a page that the caller may not see', () =>
    withPlatform(async (urls) => {
      const { nextPageToken } = await getPage(urls, 'projects', { pageSize: '1' });
      for (const pageToken of ['5', 'nonsense', '%00', String(nextPageToken).slice(1)]) {
        expect(await get(`${urls.projects}/v1/projects?pageToken=${pageToken}`)).to.have.property('status', 400);
      }
      const foreign = await get(`${urls.projects}/v1/projects?pageToken=${nextPageToken}`, 'demo-bob');
      expect(foreign.status).to.equal(400);
      expect(await foreign.text()).not.to.contain(nextPageToken);
    }));

  it('challenges a request without a credential, without an error code', () =>
    withPlatform(async (urls) => {
      const response = await fetch(`${urls.tools}/v1/tools`);
      expect(response.status).to.equal(401);
      expect(response.headers.get('www-authenticate')).to.equal('Bearer realm="demo"');
    }));

  it('refuses any other credential as invalid', () =>
    withPlatform(async (urls) => {
      const wrong = ['Bearer demo-eve', 'Bearer demo-alice demo-bob', 'Basic demo-alice', 'Bearer', 'demo-alice'];
      for (const authorization of wrong) {
        const response = await fetch(`${urls.tools}/v1/tools`, { headers: { Authorization: authorization } });
        expect(response.status, authorization).to.equal(401);
        expect(response.headers.get('www-authenticate')).to.equal('Bearer realm="demo", error="invalid_token"');
        expect(await response.text()).not.to.contain('eve');
      }
    }));

  it('takes the scheme of a credential in any case', () =>
    withPlatform(async (urls) => {
      const response = await fetch(`${urls.tools}/v1/tools`, { headers: { Authorization: 'bearer demo-bob' } });
      expect(response.status).to.equal(200);
    }));
});
