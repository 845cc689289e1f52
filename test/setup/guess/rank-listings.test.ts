import { expect } from 'chai';
import { list, listing, object, openApi, parameter, proposedFor, text } from '../proposed.ts';

/** The paths that are proposed for a resource, with these operations. */
function pathOf(resource: string, paths: Readonly<Record<string, object>>): string | undefined {
  return proposedFor(openApi(paths)).written.resources[resource]?.path;
}

const one = listing(list());

describe('the list of a resource', () => {
  const site = parameter('site', text, { required: true });
  const templates = listing(list(), { summary: 'Job templates' });
  const namespace = listing(object({ items: list() }));
  const nameless = listing({ type: 'array', items: object({ size: text }) });
  const tagged = listing(object({ tags: list() }));
  const nodes = listing(list({ version: text, module: text }), { summary: 'Get a list of the installed nodes' });
  const tabs = listing(list({ type: text, label: text }), { summary: 'Get flows' });
  for (const [name, resource, expected, paths] of [
    ['by the last word of its path', 'projects', '/projects', { '/projects': one, '/project-badges': one }],
    ['by the word before one for all of them', 'workflows', '/flows/instances', { '/flows/instances': one }],
    ['by two words', 'workflows', '/job_templates', { '/job_templates': templates }],
    ['needing no other', 'projects', '/workspaces', { '/orgs/{org}/projects': one, '/workspaces': one }],
    ["the caller's own", 'projects', '/user/repos', { '/repositories': one, '/user/repos': one }],
    ['what is installed', 'tools', '/plugins/installed', { '/apps': one, '/plugins/installed': one }],
    ['not the name of another list', 'projects', undefined, { '/projects/runs': one, '/project_members': one }],
    ['not one item, whatever list it holds', 'projects', undefined, { '/projects/{id}': tagged }],
    ['below a namespace', 'workflows', '/workflows/{namespace}', { '/workflows/{namespace}': namespace }],
    ['flows of Node-RED', 'workflows', '/flows', { '/nodes': nodes, '/flows': tabs }],
    ['not nodes of Node-RED', 'workflows', undefined, { '/nodes': nodes }],
    ['nodes of Node-RED', 'tools', '/nodes', { '/nodes': nodes, '/flows': tabs }],
    ['not without an id and a name', 'tools', undefined, { '/tools': nameless }],
    [
      ...(['rather not what asks for more', 'tools', '/integrations'] as const),
      { '/tools': listing(list(), { parameters: [site] }), '/integrations': one },
    ],
  ] as const) {
    it(`is recognized: ${name}`, () => {
      expect(pathOf(resource, paths)).to.equal(expected);
    });
  }

  it('is no list twice', () => {
    const { written } = proposedFor(openApi({ '/projects': one, '/tools': one }));
    const paths = ['projects', 'tools'].map((name) => written.resources[name]?.path);
    expect(paths).to.deep.equal(['/projects', '/tools']);
  });
});
