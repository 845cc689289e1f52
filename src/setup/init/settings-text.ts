import { stringify } from 'yaml';
import { createSafeText } from '../probe/safe-text.ts';
import { type Candidate, fieldNotes, type ResourceCandidates } from './candidates.ts';
import type { CredentialEvidence } from './credential-evidence.ts';

/** Name of the upstream. */
const UPSTREAM = 'platform';
const MAX_COMMENT = 200;

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
  const { seen, likely = { kind: 'header', name: 'X-Api-Key' } } = credential;
  const chosen = yamlOf({ credential: credential.credential ?? likely });
  const lines = [
    '# yaml-language-server: $schema=./portico.schema.json',
    '#',
    ...comment(oneLine(`${title || 'Settings'}: proposed by portico init from ${source}.`)),
    '# What the document says clearly is filled in. All else is commented out, with what was found: choose one, remove its',
    '# marks and the line enabled: false, and run portico check --probe.',
    '',
    'upstreams:',
    `  ${UPSTREAM}:`,
    ...indented(4, yamlOf({ baseUrl })),
    ...indented(4, comment(oneLine(`Credential: ${seen}.`))),
    ...indented(4, credential.credential === undefined ? comment(...chosen) : chosen),
    'resources:',
    ...resources.flatMap((each) => [`  ${each.resource.name}:`, ...indented(4, resourceLines(each))]),
  ];
  return `${lines.join('\n')}\n`;
}

function resourceLines({ resource, candidates, clear }: ResourceCandidates): string[] {
  if (clear !== undefined) return [...comment(titleOf(clear), ...notesOf(clear)), ...yamlOf(settingsOf(clear))];
  const none = candidates.length === 0 ? `no list in the document looks like ${resource.name}` : 'no choice is clear';
  return [
    `enabled: false # ${none}`,
    ...candidates.flatMap((each, index) =>
      comment(
        `${index + 1}. ${titleOf(each)}`,
        ...[...new Set([...each.doubts, ...notesOf(each)])].map((text) => `   - ${oneLine(text)}`),
        ...yamlOf(settingsOf(each)),
      ),
    ),
  ];
}

function titleOf({ operation: { path, title } }: Candidate): string {
  return oneLine(`GET ${path}${title === '' ? '' : `: "${title}"`}`);
}

function notesOf({ paging, fields }: Candidate): string[] {
  const notes = [
    // Otherwise it is a doubt.
    ...(paging.pagination ? [`Pages: ${paging.seen.join(', ')}.`] : []),
    ...[...fields].flatMap(([field, choice]) => fieldNotes(field, choice)),
  ];
  return notes.map(oneLine);
}

/** The path keeps its `{variables}`, which are doubts, as parameters that it requires are. */
function settingsOf({ operation, items, fields, paging: { pagination } }: Candidate): object {
  const clear = [...fields].flatMap(([field, { from, values, inDoubt }]) =>
    from === undefined || inDoubt ? [] : [[field, values === undefined ? from : { from, values }] as const],
  );
  return {
    upstream: UPSTREAM,
    path: operation.path,
    query: {},
    items,
    ...(pagination !== undefined && { pagination }),
    fields: Object.fromEntries(clear),
  };
}

function yamlOf(value: object): string[] {
  return stringify(value, { lineWidth: 0, blockQuote: false }).trimEnd().split('\n');
}

function indented(spaces: number, lines: readonly string[]): string[] {
  return lines.map((line) => ' '.repeat(spaces) + line);
}

/** Returns the lines of a comment. Text from outside has passed {@link oneLine}. */
function comment(...texts: readonly string[]): string[] {
  return texts.map((text) => `# ${text}`);
}

const visible = createSafeText([]);

/** Makes text from outside safe for a comment or a terminal: one bounded line of visible characters. */
export function oneLine(text: string): string {
  return visible(text.slice(0, MAX_COMMENT * 4), MAX_COMMENT).trim();
}
