import type { Candidate, ResourceCandidates } from './candidates.ts';
import type { CredentialEvidence } from './credential-evidence.ts';
import { block, comment, entry, escapeReferences, oneLine, referring } from './yaml-text.ts';

/** Name of the upstream, and prefix of the environment variables. */
const UPSTREAM = 'platform';

/** Names of query parameters that carry a credential, which settings refuse. */
const CREDENTIAL = /key|token|secret|auth|bearer|jwt|passw|pwd|^sig/i;

export interface Proposal {
  readonly title: string;
  /** Where the document was read from, without its query. */
  readonly source: string;
  /** May refer to the environment. */
  readonly baseUrl: string;
  readonly credential: CredentialEvidence;
  readonly resources: readonly ResourceCandidates[];
}

/** Writes a settings file: what is clear as settings, all else commented out with its evidence. */
export function writeSettings({ title, source, baseUrl, credential, resources }: Proposal): string {
  const lines = [
    '# yaml-language-server: $schema=./portico.schema.json',
    '#',
    ...comment(`${oneLine(title) || 'Settings'}: proposed by portico init from ${oneLine(source)}.`),
    '# What the document says clearly is filled in. All else is commented out, with what was found: choose one,',
    '# remove the marks, and run portico check --probe.',
    '',
    ...block(
      'upstreams',
      block(UPSTREAM, [entry('baseUrl', referring(baseUrl, false)), ...credentialLines(credential)]),
    ),
    ...block(
      'resources',
      resources.flatMap((each) => block(each.resource.name, resourceLines(each))),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

function credentialLines({ seen, credential, likely }: CredentialEvidence): string[] {
  const found = comment(`Credential: ${oneLine(seen)}.`);
  if (credential !== undefined) return [...found, entry('credential', credential)];
  return [...found, ...comment(entry('credential', likely ?? { kind: 'header', name: 'X-Api-Key' }))];
}

function resourceLines({ resource, candidates, clear }: ResourceCandidates): string[] {
  if (clear !== undefined) return [...comment(titleOf(clear)), ...settingsOf(clear)];
  const none = candidates.length === 0 ? `no list in the document looks like ${resource.name}` : 'no choice is clear';
  return [
    entry('enabled', false, none),
    ...candidates.flatMap((candidate, index) => [
      ...comment(`${index + 1}. ${titleOf(candidate)}`, ...candidate.doubts.map((doubt) => `   - ${oneLine(doubt)}`)),
      ...comment(...settingsOf(candidate).map((line) => `    ${line}`)),
    ]),
  ];
}

function titleOf({ operation: { path, title } }: Candidate): string {
  return `GET ${oneLine(path)}${title === '' ? '' : `: "${oneLine(title)}"`}`;
}

/** Lines of the settings of one list. Whatever is in doubt is a comment in them. */
function settingsOf({ operation, items, fields, paging }: Candidate): string[] {
  const [pagination, ...others] = paging.choices;
  const paged = new Set<unknown>(Object.values(pagination ?? {}));
  const needed = operation.parameters.filter(({ name, required }) => required && !paged.has(name));
  return [
    entry('upstream', UPSTREAM),
    entry('path', pathOf(operation.path)),
    ...block(
      'query',
      needed
        .filter(({ name }) => !CREDENTIAL.test(name))
        .map(({ name, value }) => entry(name, value ?? referring(variable(name)))),
    ),
    entry('items', items),
    ...comment(`Pages: ${oneLine(paging.seen.join(', '))}.`),
    ...(pagination === undefined ? [] : [entry('pagination', pagination)]),
    ...comment(...others.map((other) => entry('pagination', other, 'another reading'))),
    ...block('fields', fieldLines(fields)),
  ];
}

/** A path with a variable of the environment for each of its parameters. */
function pathOf(path: string) {
  const parts = path.split(/(\{[^{}]*\})/);
  const text = parts.map((part) => (part.startsWith('{') ? variable(part.slice(1, -1)) : escapeReferences(part)));
  return referring(text.join(''), false);
}

function variable(name: string): string {
  return `\${${UPSTREAM.toUpperCase()}_${name.replace(/\W+/g, '_').toUpperCase()}}`;
}

function fieldLines(fields: Candidate['fields']): string[] {
  return [...fields].flatMap(([field, { from, values, inDoubt }]) => {
    if (from === undefined) return comment(`${field}: no member found; it reads ""`);
    const line = entry(field, values === undefined ? from : { from, values });
    return inDoubt ? comment(line) : [line];
  });
}
