import { code, escapeHtml } from '../../core/http/pages/html.ts';
import { LANDING_STYLE } from '../../core/http/pages/style.ts';
import type { Offered } from '../../core/reads/catalogue/catalogue.ts';
import { DOCUMENTED_ORIGIN, DOCUMENTED_URI, HTTP_SNIPPET, MCP_SNIPPETS, type Snippet } from './clients.ts';

export interface LandingPageOptions {
  readonly offered: readonly Offered[];
  /** Where the list of resources lives, and its description. */
  readonly paths: { readonly list: string; readonly description: string };
  /** Where MCP is spoken, if it is. */
  readonly mcpPath: string | undefined;
  /** Whether MCP clients are told where a person signs in. @default false */
  readonly signsIn?: boolean | undefined;
}

const SIGNING_IN = ' A client that has a person sign in by itself needs no token: leave its header out.';

export const MARK =
  '<svg viewBox="0 0 48 48" fill="currentColor" aria-hidden="true"><path d="M24 4 45 15v4H3v-4zM6 38h36v3H6zM3 42h42v3H3zM8 21h5v15H8zM18 21h4v15h-4zM26 21h4v15h-4zM35 21h5v15h-5z"/></svg>';

/**
 * The page that a browser finds here: what this is and how a client is told of it. No script, and nothing to load. What
 * it shows anybody may know: the resources that are offered, and the address of this server. Made once, but for that
 * address: scheme, host and port, without a slash.
 */
export function createLandingPage(options: LandingPageOptions): (address: string) => string {
  const parts = pageOf(options).split(DOCUMENTED_ORIGIN);
  return (address) => parts.join(`<b>${escapeHtml(address)}</b>`);
}

function pageOf({ offered, paths, mcpPath, signsIn = false }: LandingPageOptions): string {
  const addresses = [
    ...(mcpPath === undefined ? [] : [term('MCP', address(mcpPath), 'Streamable HTTP: what a client is given.')]),
    term('HTTP', address(paths.list), 'The same lists as plain JSON.'),
  ];
  const resources = offered.map(({ definition: { uri, name, description } }) =>
    term(name, code(uri), escapeHtml(description)),
  );
  const [first] = offered;
  const snippets = [...(mcpPath === undefined ? [] : MCP_SNIPPETS), HTTP_SNIPPET].map((snippet) => ({
    ...snippet,
    text: snippet.text.replaceAll(DOCUMENTED_URI, first?.definition.uri ?? DOCUMENTED_URI),
  }));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Portico</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>${LANDING_STYLE}</style>
</head>
<body>
<header>
${MARK}
<h1>Portico</h1>
<p>Read-only lists of a security platform, for AI assistants and for programs. They are not shown here: a client reads
them, with an access token of the platform.</p>
</header>
<main>
${section('Address', '', sheet('dl', addresses))}
${section('What is here', 'A list comes whole, or the read is an error.', sheet('dl', resources))}
${section(
  'Connect a client',
  `The access token comes from ${code('PORTICO_TOKEN')} in the environment; VS Code asks for it. A click on a snippet selects it.${signsIn ? SIGNING_IN : ''}`,
  sheet('div', snippets.map(disclosure)),
)}
${section(
  'Documentation',
  '',
  `<ul>
<li><a href="${paths.description}">${paths.description}</a> describes the two reads and every error, as OpenAPI 3.1.</li>
<li>Portico’s own pages come with it, in its folder ${code('docs')}: ${code('clients.md')} has more clients, those that start
their servers themselves, and what to do when one does not connect; ${code('errors.md')} has every error code.</li>
</ul>`,
)}
</main>
</body>
</html>
`;
}

function section(title: string, lead: string, content: string): string {
  const told = lead === '' ? '' : `<p>${lead}</p>\n`;
  return `<section>\n<h2>${title}</h2>\n${told}${content}\n</section>`;
}

function sheet(tag: string, rows: readonly string[]): string {
  return `<${tag} class="sheet">\n${rows.join('\n')}\n</${tag}>`;
}

function term(name: string, value: string, meaning: string): string {
  return `<div><dt>${escapeHtml(name)}</dt><dd>${value}<p>${meaning}</p></dd></div>`;
}

function disclosure({ client, where, text }: Snippet, index: number): string {
  // Lines of a shell are taken one by one.
  const blocks = text.startsWith('{') ? [text] : text.trimEnd().split('\n');
  const shown = blocks.map((block) => unbroken(code(block.trimEnd()))).join('');
  return `<details${index === 0 ? ' open' : ''}><summary>${client} <span>${where}</span></summary><pre>${shown}</pre></details>`;
}

/** Keeps the options of a command from being broken at their hyphens. */
function unbroken(line: string): string {
  return line.replace(/(?<= )--?[\w-]+/g, '<i>$&</i>');
}

function address(path: string): string {
  return code(`${DOCUMENTED_ORIGIN}${path}`);
}
