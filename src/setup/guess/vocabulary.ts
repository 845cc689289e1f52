/** Returns the words of a name, in lower case and singular: the same for `jobTemplates`, `job-templates` and `JOB_TEMPLATES`. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
    .map(singular);
}

function singular(word: string): string {
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|us|is)$/.test(word) || word.length < 4) return word;
  return /(?:sses|xes|ches|shes)$/.test(word) ? word.slice(0, -2) : word.replace(/s$/, '');
}

/** Words for what a resource lists, in the singular, each with a weight. */
export type Vocabulary = Readonly<Record<string, number>>;

/** What platforms call the resources. A resource that is missing here is recognized by its own name only. */
export const VOCABULARIES: Readonly<Record<string, Vocabulary>> = {
  projects: weighted({
    10: ['project'],
    8: ['workspace'],
    7: ['product', 'repository', 'repo'],
    5: ['application', 'site', 'tenant', 'portfolio', 'organization', 'organisation'],
    4: ['org', 'namespace', 'team', 'space'],
    3: ['asset'],
  }),
  workflows: weighted({
    10: ['workflow'],
    9: ['playbook'],
    8: ['automation', 'flow', 'dag'],
    7: ['pipeline', 'runbook'],
    6: ['scenario', 'story', 'orchestration', 'process definition', 'job template', 'replication policy'],
    5: ['event rule', 'schedule', 'engagement'],
    4: ['job', 'rule'],
    3: ['policy'],
  }),
  tools: weighted({
    10: ['tool', 'tool configuration'],
    9: ['integration'],
    8: ['connector', 'scanner', 'plugin'],
    7: ['extension', 'installation', 'analyzer', 'responder', 'community package', 'addon'],
    6: ['app', 'provider', 'sensor'],
    5: ['engine', 'test type', 'service'],
    4: ['action', 'agent', 'adapter', 'node'],
    3: ['package'],
  }),
};

function weighted(words: Readonly<Record<number, readonly string[]>>): Vocabulary {
  const pairs = Object.entries(words)
    .toReversed()
    .flatMap(([weight, phrases]) => phrases.map((each) => [each, Number(weight)] as const));
  return Object.fromEntries(pairs);
}

/** Least weight of a word that is looked for as a path. */
export const LIKELY = 6;

/** Words that show that a list is of something else, wherever they are in its path. */
export const OTHER_THINGS: ReadonlySet<string> = new Set(
  wordsOf(
    `run execution log history member user permission statistic stat metric count event audit template candidate revision
    schema trash archived deleted preview draft invitation comment issue alert finding vulnerability secret variable key
    token session notification webhook hook role label tag favorite starred grant subscription request search
    autocomplete export import health license quota usage marketplace catalog public popular trending binding property
    billing used requestable metadata group manifest blob artifact fork invocation result stargazer subscriber overview
    summary scan note file attachment type duplicate setting`,
  ),
);

/** Words of a path that locate the API and do not name a list. */
export const API_WORDS: ReadonlySet<string> = new Set(['api', 'rest', 'core', 'public', 'external', 'open', 'v', 'rs']);

/** Words for all of what the segment before them names: `flows/instances`, `providers/all`. */
export const ALL_OF: ReadonlySet<string> = new Set(wordsOf('instance all list installed item definition mine'));
