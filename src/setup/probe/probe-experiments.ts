import type { Finding, Untried } from './probe-report.ts';
import { checksOff, defaultQuery, defaults, emptyList, type Subject, unmappedValues } from './read-doubts.ts';
import { publicList, queryEntries, smallerPages } from './request-experiments.ts';
import { NotTried } from './varied-reads.ts';

/** Finds doubts about a read. Rejects with {@link NotTried} if it shows nothing. */
type Experiment = (subject: Subject) => readonly Finding[] | Promise<readonly Finding[]>;

type Experiments = Readonly<Record<string, Experiment>>;

/** By name, in the order in which they run. These need no request. */
const OF_RESOURCE: Experiments = { 'empty list': emptyList, defaults, values: unmappedValues };

/** Of each list by itself: together, pages of several lists come in any order. */
const OF_LIST: Experiments = {
  'default query': defaultQuery,
  total: checksOff,
  'made-up token': publicList,
  'smaller pages': smallerPages,
  query: queryEntries,
};

/** A list of the resource, by its place in settings; `open` resolves with `undefined` if it was not requested. */
export interface ProbedList {
  readonly list: string | undefined;
  readonly open: () => Promise<Subject | undefined>;
}

export async function runExperiments(
  resource: Subject,
  lists: readonly ProbedList[],
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
  const runAll = async (experiments: Experiments, subject: Subject, suffix = '') => {
    for (const [name, run] of Object.entries(experiments)) {
      for (const found of (await attempt(`${name}${suffix}`, () => run(subject))) ?? []) {
        const key = `${found.finding} ${found.setting}`;
        if (!findings.has(key)) findings.set(key, { ...found, text: `${found.text}${suffix}` });
      }
    }
  };
  await runAll(OF_RESOURCE, resource);
  for (const { list, open } of lists) {
    const suffix = list === undefined ? '' : ` (in ${list})`;
    const subject = await attempt(`first page${suffix}`, open);
    if (subject !== undefined) await runAll(OF_LIST, subject, suffix);
  }
  return { findings: [...findings.values()], notTried };
}
