import { expect } from 'chai';
import { landingOperation } from '../../../src/capabilities/landing-page/landing-page.ts';
import type { GatewayState } from '../../../src/core/hooks.ts';
import { define, type Resource } from '../../../src/core/resources/resource.ts';
import { FOUR } from '../../core/resources/findings.ts';
import { codeBlocksBut } from '../../support/docs.ts';

/** The origin in the snippets of the documentation. */
const DOCUMENTED = 'http://127.0.0.1:8080';
const ORIGIN = 'https://portico.acme.example';

/** The page for these resources, at this origin. */
async function pageOf(
  resources: readonly Resource[] = FOUR.slice(0, 3),
  { hasMcp = true, origin = ORIGIN, scheme = 'platform', signsIn = false } = {},
): Promise<string> {
  const offered = resources.map((resource) => ({ definition: define(resource, scheme) }));
  const state = { config: { publicUrl: origin }, offered, mcpPath: hasMcp ? '/mcp' : undefined, signsIn };
  const request = { req: { headers: { accept: 'text/html' } } };
  const operation = landingOperation(state as unknown as GatewayState);
  const { body } = await operation.respond(request as never);
  return `${body}`;
}

function textOf(html: string): string {
  const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return html.replace(/<[^>]*>/g, '').replace(/&([^;]*);/g, (_, name: string) => entities[name] ?? expect.fail(name));
}

describe('the snippets of the page', () => {
  it('are the HTTP snippets of docs/clients.md but those of agents, to the letter, with the address filled in', async () => {
    const documented = ['sh', 'json'].flatMap((language) =>
      codeBlocksBut('docs/clients.md', language, 'Agents in a terminal'),
    );
    const shown = [...(await pageOf()).matchAll(/<pre>(.*?)<\/pre>/gs)].map(([, block]) =>
      String(block)
        .split('</code>')
        .slice(0, -1)
        .map((code) => `${textOf(code)}\n`)
        .join(''),
    );
    expect(shown).to.have.members(
      documented.filter((block) => block.includes(DOCUMENTED)).map((block) => block.replaceAll(DOCUMENTED, ORIGIN)),
    );
  });
});

describe('the page', () => {
  it('names and reads what is offered, a fourth resource too, under the scheme of the deployment', async () => {
    const text = textOf(await pageOf(FOUR.slice(2), { scheme: 'acme' }));
    expect(text).to.contain('--uri acme://tools').and.contain('read?uri=acme://tools');
    expect(text).not.to.contain('platform://').and.not.contain('projects');
    for (const { name, title, description } of FOUR.slice(2)) {
      expect(text).to.contain(`${title}acme://${name}${description}`);
    }
  });

  it('omits MCP if it is off', async () => {
    const page = await pageOf(FOUR, { hasMcp: false });
    expect(textOf(page.replace(/<style>.*<\/style>/s, ''))).not.to.match(/mcp add|mcpServers|Streamable/);
    expect(page).to.contain('curl ');
  });
});
