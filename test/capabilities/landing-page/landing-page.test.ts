import { expect } from 'chai';
import { DOCUMENTED_ORIGIN, HTTP_SNIPPET, MCP_SNIPPETS } from '../../../src/capabilities/landing-page/clients.ts';
import { createLandingPage } from '../../../src/capabilities/landing-page/landing-page.ts';
import { define, type Resource } from '../../../src/core/resources/resource.ts';
import { FOUR } from '../../core/resources/findings.ts';
import { codeBlocks } from '../../support/docs.ts';

const ORIGIN = 'https://portico.acme.example';

/** The page for these resources, as a browser gets it that came by this origin. */
function pageOf(
  resources: readonly Resource[] = FOUR.slice(0, 3),
  { hasMcp = true, origin = ORIGIN, scheme = 'platform', signsIn = false } = {},
): string {
  const offered = resources.map((resource) => ({
    resource,
    definition: define(resource, scheme),
    known: {},
    requiredScopes: [],
  }));
  const paths = { list: '/mcp/v1/resources', description: '/openapi.json' };
  return createLandingPage({ offered, paths, mcpPath: hasMcp ? '/mcp' : undefined, signsIn })(origin);
}

/** The text that a person sees of some HTML. */
function textOf(html: string): string {
  const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return html.replace(/<[^>]*>/g, '').replace(/&([^;]*);/g, (_, name: string) => entities[name] ?? expect.fail(name));
}

describe('the snippets of the page', () => {
  it('are those of docs/clients.md that go over HTTP, to the letter and all of them', () => {
    const documented = [...codeBlocks('docs/clients.md', 'sh'), ...codeBlocks('docs/clients.md', 'json')];
    const shown = [...MCP_SNIPPETS, HTTP_SNIPPET].map(({ text }) => text);
    expect(shown).to.have.members(documented.filter((block) => block.includes(DOCUMENTED_ORIGIN)));
  });

  it('have the address filled in by which the browser came, each line of a shell by itself', () => {
    const blocks = [...pageOf().matchAll(/<pre>(.*?)<\/pre>/gs)].map(([, block]) =>
      String(block)
        .split('</code>')
        .slice(0, -1)
        .map((code) => `${textOf(code)}\n`)
        .join(''),
    );
    const expected = [...MCP_SNIPPETS, HTTP_SNIPPET].map(({ text }) => text.replaceAll(DOCUMENTED_ORIGIN, ORIGIN));
    expect(blocks).to.deep.equal(expected);
    expect(pageOf()).not.to.contain(DOCUMENTED_ORIGIN);
  });
});

describe('the page', () => {
  it('reads in its snippets what is offered, under the scheme of the deployment', () => {
    const text = textOf(pageOf(FOUR.slice(2), { scheme: 'acme' }));
    expect(text).to.contain('--uri acme://tools').and.contain('read?uri=acme://tools');
    expect(text).not.to.contain('platform://').and.not.contain('projects');
  });

  it('names the resources that are offered, a fourth one too, and no others', () => {
    const text = textOf(pageOf(FOUR.slice(1)));
    for (const { name, title, description } of FOUR.slice(1)) {
      expect(text).to.contain(`${title}platform://${name}${description}`);
    }
    expect(text).not.to.contain('All projects accessible');
  });

  it('says nothing of MCP where there is none', () => {
    const page = pageOf(FOUR, { hasMcp: false });
    expect(textOf(page.replace(/<style>.*<\/style>/s, ''))).not.to.match(/mcp add|mcpServers|Streamable/);
    expect(page).to.contain('curl ');
  });

  it('says that a person may sign in where clients are told how', () => {
    expect(textOf(pageOf(FOUR, { signsIn: true }))).to.contain('needs no token: leave its header out.');
    expect(textOf(pageOf())).to.not.contain('needs no token');
  });

  it('runs nothing, loads nothing and sends nothing', () => {
    const page = pageOf();
    expect(page).not.to.match(
      /<(?:script|img|link|iframe|object|embed|form|base)\b|\son\w+=|url\(|@import|javascript:/i,
    );
    const addresses = [...page.matchAll(/\s(?:href|src|action)="([^"]*)"/g)].map(([, address]) => address);
    expect(addresses).to.deep.equal(['/openapi.json']);
  });

  it('shows what settings and clients say as text', () => {
    const [projects] = FOUR;
    if (projects === undefined) return expect.fail('nothing is offered');
    const page = pageOf([{ ...projects, title: '<b>&"\'', description: '<img src=x>' }], { origin: 'http://a&lt;b' });
    expect(page).to.contain('&lt;b&gt;&amp;&quot;&#39;').and.contain('&lt;img src=x&gt;');
    expect(page).to.contain('http://a&amp;lt;b').and.not.contain('<img');
  });
});
