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

/** What platforms call a resource. `clear` words name nothing else; `possible` ones often do. The surest first. */
interface Vocabulary {
  readonly clear: readonly string[];
  readonly possible: readonly string[];
}

const VOCABULARIES: Readonly<Record<string, Vocabulary>> = {
  projects: {
    clear: ['project', 'workspace'],
    possible: words(
      'product repository repo application site tenant portfolio organization organisation org namespace team',
    ),
  },
  workflows: {
    clear: ['workflow', 'playbook', 'automation', 'runbook'],
    // A job, a schedule or a pipeline in a queue is one run as often as it is what can be run.
    possible: [
      ...words('flow dag scenario story orchestration pipeline job schedule rule'),
      'job template',
      'process definition',
    ],
  },
  tools: {
    clear: ['tool', 'integration', 'connector', 'scanner', 'plugin'],
    possible: words('extension installation analyzer responder addon app provider sensor engine adapter agent service'),
  },
};

/** Returns what platforms call a resource. One without words is recognized by its own name only. */
export function vocabularyOf({ name }: Resource): Vocabulary {
  return VOCABULARIES[name] ?? { clear: [wordsOf(name).join(' ')], possible: [] };
}

/** Words that show that a list is of something else, wherever they are in its path. */
export const OTHER_THINGS: ReadonlySet<string> = new Set(
  wordsOf(
    `run execution log history member user permission statistic stat metric count event audit template candidate revision
    schema trash archived deleted preview draft invitation comment issue alert finding vulnerability secret variable key
    token session notification webhook hook role label tag favorite starred grant subscription request search queue
    autocomplete export import health license quota usage marketplace catalog public popular trending binding property
    billing used requestable metadata group manifest blob artifact fork invocation result stargazer subscriber overview
    summary scan note file attachment type duplicate setting scheduler scheduled pending`,
  ),
);

/** Segments that name no thing: versions, prefixes, and what is the caller's own. */
export const NO_THING =
  /^(?:v\d+[.\w]*|\d+(?:[.-]\d+)*|api|rest|core|public|external|open|rs|user|me|my|mine|self|current|all|list|installed|items?)$/i;

function words(text: string): readonly string[] {
  return text.split(' ');
}
