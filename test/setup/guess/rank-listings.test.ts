import { expect } from 'chai';
import { list, listing, object, openApi, parameter, proposedFor, text } from '../proposed.ts';

const boolean = { type: 'boolean' };

/** The paths that are proposed for a resource, with these operations. */
function pathOf(resource: string, paths: Readonly<Record<string, object>>): string | undefined {
  return proposedFor(openApi(paths)).written.resources[resource]?.path;
}

const one = listing(list());

describe('the list of a resource', () => {
  for (const [name, resource, paths, expected] of [
    ['by the last word of its path', 'projects', { '/projects': one, '/project-badges': one }, '/projects'],
    ['by the word before one for all of them', 'workflows', { '/flows/instances': one }, '/flows/instances'],
    [
      'by two words',
      'workflows',
      { '/job_templates': listing(list(), { summary: 'Job templates' }) },
      '/job_templates',
    ],
    [
      'the one that needs no other to be named',
      'projects',
      { '/orgs/{org}/projects': one, '/workspaces': one },
      '/workspaces',
    ],
    ["the caller's own", 'projects', { '/repositories': one, '/user/repos': one }, '/user/repos'],
    ['what is installed', 'tools', { '/apps': one, '/plugins/installed': one }, '/plugins/installed'],
    [
      'rather not what is public',
      'projects',
      { '/projects': listing(list(), { summary: 'List public projects' }), '/workspaces': one },
      '/workspaces',
    ],
    [
      'not what a list of something else is called after',
      'projects',
      { '/projects/runs': one, '/project_members': one },
      undefined,
    ],
    [
      'not one item, whatever list it holds',
      'projects',
      { '/projects/{id}': listing(object({ tags: list() })) },
      undefined,
    ],
    [
      'below a namespace',
      'workflows',
      { '/workflows/{namespace}': listing(object({ items: list() })) },
      '/workflows/{namespace}',
    ],
    [
      'not without an id and a name',
      'tools',
      { '/tools': listing({ type: 'array', items: object({ size: text }) }) },
      undefined,
    ],
    [
      'rather not what is deprecated',
      'tools',
      { '/tools': listing(list(), { deprecated: true }), '/integrations': one },
      '/integrations',
    ],
    [
      'rather not what asks for more',
      'tools',
      {
        '/tools': listing(list(), { parameters: [parameter('site', text, { required: true })] }),
        '/integrations': one,
      },
      '/integrations',
    ],
  ] as const) {
    it(`is recognized: ${name}`, () => {
      expect(pathOf(resource, paths)).to.equal(expected);
    });
  }

  it('is no list twice', () => {
    const { written } = proposedFor(openApi({ '/projects': one, '/tools': one }));
    expect([written.resources['projects']?.path, written.resources['tools']?.path]).to.deep.equal([
      '/projects',
      '/tools',
    ]);
  });
});

describe("Node-RED's admin API", () => {
  const nodes = listing(list({ version: text, module: text, enabled: boolean }), {
    summary: 'Get a list of the installed nodes',
  });
  const tabs = listing(
    { type: 'array', items: object({ id: text, type: text, label: text }) },
    { summary: 'Get flows' },
  );

  it('has flows for workflows, and nodes for tools', () => {
    const { written } = proposedFor(openApi({ '/nodes': nodes, '/flows': tabs }));
    expect(written.resources['workflows']?.path).to.equal('/flows');
    expect(written.resources['tools']?.path).to.equal('/nodes');
  });

  it('has no workflows where nodes alone are described', () => {
    const { written } = proposedFor(openApi({ '/nodes': nodes }));
    expect(written.resources['workflows']).to.deep.equal({ enabled: false });
  });
});
