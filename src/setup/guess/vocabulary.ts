import type { Resource } from '../../core/resources/resource.ts';

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

/** Words for what a resource lists, in the singular, each with a weight; the heaviest first. */
export type Vocabulary = Readonly<Record<string, number>>;

const VOCABULARIES: Readonly<Record<string, Vocabulary>> = {
  projects: {
    ...{ project: 10, workspace: 8, product: 7, repository: 7, repo: 7 },
    ...{ application: 5, site: 5, tenant: 5, portfolio: 5, organization: 5, organisation: 5 },
    ...{ org: 4, namespace: 4, team: 4, space: 4, asset: 3 },
  },
  workflows: {
    ...{ workflow: 10, playbook: 9, automation: 8, flow: 8, dag: 8, pipeline: 7, runbook: 7 },
    ...{ scenario: 6, story: 6, orchestration: 6, 'process definition': 6, 'job template': 6, 'replication policy': 6 },
    ...{ 'event rule': 5, schedule: 5, engagement: 5, job: 4, rule: 4, policy: 3 },
  },
  tools: {
    ...{ tool: 10, 'tool configuration': 10, integration: 9, connector: 8, scanner: 8, plugin: 8 },
    ...{ extension: 7, installation: 7, analyzer: 7, responder: 7, 'community package': 7, addon: 7 },
    ...{ app: 6, provider: 6, sensor: 6, engine: 5, 'test type': 5, service: 5 },
    ...{ action: 4, agent: 4, adapter: 4, node: 4, package: 3 },
  },
};

/** Least weight of a word that is looked for as a path. */
export const LIKELY = 6;

/** Returns what platforms call a resource. One without words is recognized by its own name only. */
export function vocabularyOf({ name }: Resource): Vocabulary {
  return VOCABULARIES[name] ?? { [wordsOf(name).join(' ')]: 10 };
}

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

export const API_WORDS: ReadonlySet<string> = new Set(['api', 'rest', 'core', 'public', 'external', 'open', 'v', 'rs']);

/** Words for all of what the segment before them names: `flows/instances`, `providers/all`. */
export const ALL_OF: ReadonlySet<string> = new Set(wordsOf('instance all list installed item definition mine'));
