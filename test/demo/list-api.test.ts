import { expect } from 'chai';
import projects from '../../src/demo/data/projects.json' with { type: 'json' };
import tools from '../../src/demo/data/tools.json' with { type: 'json' };
import workflows from '../../src/demo/data/workflows.json' with { type: 'json' };
import { type Api, get, getAll, getPages, withPlatform } from './lists.ts';

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
        expect(pages.length).to.be.greaterThan(1);
        for (const page of pages.slice(0, -1)) expect(page.items, api).to.have.length(5);
      }
    }));

  it('filters workflows and tools by whether they are installed', () =>
    withPlatform(async (urls) => {
      // Nothing can be installed there.
      expect(await getAll(urls, 'projects', { installed: 'true' })).to.deep.equal(await getAll(urls, 'projects'));
      for (const [api, items] of Object.entries({ workflows, tools })) {
        for (const installed of [true, false]) {
          const expected = items.filter((item) => item.installed === installed);
          expect(await getAll(urls, api as Api, { installed: String(installed) })).to.deep.equal(expected);
          expect(expected).to.have.length.greaterThan(0);
        }
      }
    }));

  it('refuses a page token that is made up', () =>
    withPlatform(async (urls) => {
      for (const pageToken of ['5', 'nonsense', '%00']) {
        expect(await get(`${urls.projects}/v1/projects?pageToken=${pageToken}`)).to.have.property('status', 400);
      }
    }));

  it('answers 401 with a challenge without the token of one of its callers', () =>
    withPlatform(async (urls) => {
      const answerTo = async (headers: Record<string, string>) => {
        const { status, headers: sent } = await fetch(`${urls.tools}/v1/tools`, { headers });
        return [status, sent.get('www-authenticate')];
      };
      expect(await answerTo({})).to.deep.equal([401, 'Bearer realm="demo"']);
      for (const authorization of ['Bearer demo-eve', 'Basic demo-alice', 'demo-alice']) {
        expect(await answerTo({ authorization })).to.deep.equal([401, 'Bearer realm="demo", error="invalid_token"']);
      }
      expect(await answerTo({ authorization: 'bearer demo-bob' })).to.deep.equal([200, null]);
    }));
});
