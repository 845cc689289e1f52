import { expect } from 'chai';
import { list, listing, number, object, openApi, parameter, proposedFor, text } from '../proposed.ts';

const boolean = { type: 'boolean' };
const meta = object({ total_count: number, filter_count: number });
const flows = object({ data: list(), meta });

function workflowsOf(paths: Readonly<Record<string, object>>) {
  const proposed = proposedFor(openApi(paths));
  return { ...proposed, resource: proposed.written.resources['workflows'] ?? {} };
}

describe('a total that is sent only on request', () => {
  const paged = [parameter('limit'), parameter('offset'), parameter('meta', text)];

  it('is requested by meta, and is the filtered one', () => {
    const { resource } = workflowsOf({ '/flows': listing(flows, { parameters: paged }) });
    expect(resource.query).to.deep.equal({ meta: '*' });
    expect(resource.pagination).to.deep.equal({
      kind: 'offset',
      offsetParam: 'offset',
      sizeParam: 'limit',
      size: 100,
      total: 'meta.filter_count',
    });
  });

  for (const name of ['count', '$count', 'include_totals', 'includeTotal', 'with_total', 'withCount', 'show_total']) {
    it(`is requested by ${name}, which is no size`, () => {
      const parameters = [parameter(name, boolean), parameter('limit'), parameter('offset')];
      const { resource } = workflowsOf({ '/flows': listing(object({ data: list(), total: number }), { parameters }) });
      expect(resource.query).to.deep.equal({ [name]: 'true' });
      expect(resource.pagination).to.deep.include({ kind: 'offset', sizeParam: 'limit', total: 'total' });
    });
  }

  it('is not requested by a number, nor where the answer is described without one', () => {
    const sizes = [parameter('count'), parameter('offset')];
    const { resource } = workflowsOf({
      '/flows': listing(object({ data: list(), total: number }), { parameters: sizes }),
    });
    expect(resource.query).to.deep.equal({});
    expect(resource.pagination).to.deep.include({ sizeParam: 'count' });
    const other = workflowsOf({ '/flows': listing(object({ data: list() }), { parameters: paged }) }).resource;
    expect(other.query).to.deep.equal({});
    expect(other.pagination).to.deep.equal({ kind: 'offset', offsetParam: 'offset', sizeParam: 'limit', size: 100 });
  });

  it('is paged as another list is that has it, where the list is described without parameters, in doubt', () => {
    const { resource, doubts } = workflowsOf({
      '/flows': listing(flows),
      '/users': listing(flows, { parameters: paged }),
    });
    expect(resource.query).to.deep.equal({ meta: '*' });
    expect(resource.pagination).to.deep.include({ kind: 'offset', total: 'meta.filter_count' });
    expect(doubts.join()).to.contain(
      'whether this list is paged like /users: the document describes no parameters for it',
    );
  });
});

describe('a list is never taken for one page', () => {
  it('with a total and nothing else: fewer items than the total are an error', () => {
    const { resource, doubts } = workflowsOf({ '/flows': listing(flows) });
    expect(resource.pagination).to.deep.equal({ kind: 'link', sizeParam: null, total: 'meta.filter_count' });
    expect(doubts.join()).to.contain('how the platform pages this list');
  });

  for (const name of [
    'limit',
    'offset',
    'page',
    'cursor',
    'pageLimitation',
    'x-page-cut',
    'itemsPerPage',
    'maxItems',
  ]) {
    it(`with the parameter ${name}`, () => {
      const { resource, doubts } = workflowsOf({ '/flows': listing(list(), { parameters: [parameter(name)] }) });
      expect(resource.pagination?.['kind']).not.to.equal('none');
      if (name !== 'offset') expect(doubts.join()).to.match(/how the platform pages this list|counted from/);
    });
  }
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
