import { expect } from 'chai';
import type { SettingsInput } from '../../../src/gateway.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { type Flaw, KINDS, pagedPlatform } from '../../support/platform/paged-platform.ts';

const projects = Array.from({ length: 120 }, (_, index) => ({
  id: `project-${index}`,
  name: `Project ${index}`,
  description: '',
  createTime: '2026-01-02T03:04:05Z',
}));

async function readProjects(kind: (typeof KINDS)[number], flaw: Flaw) {
  const platform = pagedPlatform(kind, projects, flaw);
  const upstream = await startHttpUpstream(platform.handler);
  const resource = { items: platform.items, pagination: platform.pagination } as NonNullable<
    NonNullable<SettingsInput['resources']>['projects']
  >;
  const { gateway, read } = await startGateway(settingsFor(upstream.url, { resources: { projects: resource } }));
  try {
    const response = await read('projects');
    return { status: response.status, body: await response.json() };
  } finally {
    await gateway.close();
    await upstream.close();
  }
}

describe('a read of 120 projects behind pages of 25', () => {
  for (const kind of KINDS) {
    it(`is complete and in order: ${kind}`, async () => {
      const { status, body } = await readProjects(kind, 'none');
      expect(status).to.equal(200);
      expect(body).to.deep.equal(projects);
    });

    for (const flaw of ['loops', 'repeats'] as const) {
      it(`is an error when the platform ${flaw}: ${kind}`, async () => {
        const { status, body } = await readProjects(kind, flaw);
        expect(status).to.equal(502);
        expect(body).to.include({ code: 'upstream_invalid', upstream: 'projects' });
      });
    }
  }

  // Where a platform tells no total, a list that shrank is a list: nothing on the wire says otherwise.
  for (const kind of ['offset', 'page'] as const) {
    it(`is an error when the list shrinks under it: ${kind}`, async () => {
      const { status, body } = await readProjects(kind, 'shrinks');
      expect(status).to.equal(502);
      expect(body).to.include({ code: 'upstream_invalid', upstream: 'projects' });
    });
  }
});
