import type { ListPart } from './list-parts.ts';
import type { Finding, Untried } from './probe-report.ts';
import {
  checksOff,
  defaultQuery,
  defaults,
  emptyList,
  type ListSubject,
  type ReadSubject,
  unmappedValues,
} from './read-doubts.ts';
import { publicList, queryEntries, smallerPages } from './request-experiments.ts';
import { NotTried } from './varied-reads.ts';

/** By name, in the order in which they run. Each rejects with {@link NotTried} if it shows nothing. */
type Experiments<Subject> = Readonly<Record<string, (subject: Subject) => Finding[] | Promise<Finding[]>>>;

/** These need no request. */
const OF_RESOURCE: Experiments<ReadSubject> = { 'empty list': emptyList, defaults, values: unmappedValues };

/** Of each list by itself: together, pages of several lists come in any order. */
const OF_LIST: Experiments<ListSubject> = {
  'default query': defaultQuery,
  total: checksOff,
  'made-up token': publicList,
  'smaller pages': smallerPages,
  query: queryEntries,
};

/** `open` resolves with `undefined` for a list that was not requested. */
export async function runExperiments(
  read: ReadSubject | undefined,
  parts: readonly ListPart[],
  open: (part: ListPart) => Promise<ListSubject | undefined>,
): Promise<{ readonly findings: readonly Finding[]; readonly notTried: readonly Untried[] }> {
  // Lists of one resource share credential and keys, and so findings.
  const findings = new Map<string, Finding>();
  const notTried: Untried[] = [];
  const attempt = async <T>(experiment: string, run: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof NotTried)) throw error;
      notTried.push({ experiment, why: error.message });
      return undefined;
    }
  };
  const runAll = async <Subject>(experiments: Experiments<Subject>, subject: Subject | undefined, suffix = '') => {
    if (subject === undefined) return;
    for (const [name, run] of Object.entries(experiments)) {
      for (const found of (await attempt(`${name}${suffix}`, () => run(subject))) ?? []) {
        const key = `${found.finding} ${found.setting}`;
        if (!findings.has(key)) findings.set(key, { ...found, text: `${found.text}${suffix}` });
      }
    }
  };
  await runAll(OF_RESOURCE, read);
  for (const part of parts) {
    const suffix = part.list === undefined ? '' : ` (in ${part.list})`;
    await runAll(OF_LIST, await attempt(`first page${suffix}`, () => open(part)), suffix);
  }
  return { findings: [...findings.values()], notTried };
}
