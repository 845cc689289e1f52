import type { Finding, Untried } from './probe-report.ts';
import { checksOff, defaultQuery, defaults, emptyList, type Subject, unmappedValues } from './read-doubts.ts';
import { publicList, queryEntries, smallerPages } from './request-experiments.ts';
import { NotTried } from './varied-reads.ts';

/** Finds doubts about a read. Rejects with {@link NotTried} if it shows nothing. */
type Experiment = (subject: Subject) => readonly Finding[] | Promise<readonly Finding[]>;

/** Read pages again and compare them, which shows nothing where pages of several lists come in any order. */
const OF_ONE_LIST = ['made-up token', 'smaller pages', 'query'];

/** By name, in the order in which they run. The first five need no request. */
const EXPERIMENTS: Readonly<Record<string, Experiment>> = {
  'empty list': emptyList,
  'default query': defaultQuery,
  defaults,
  values: unmappedValues,
  total: checksOff,
  'made-up token': publicList,
  'smaller pages': smallerPages,
  query: queryEntries,
};

export async function runExperiments(
  subject: Subject,
): Promise<{ readonly findings: readonly Finding[]; readonly notTried: readonly Untried[] }> {
  const findings: Finding[] = [];
  const notTried: Untried[] = [];
  const isJoined = subject.settings.each !== undefined || subject.settings.lists !== undefined;
  for (const [experiment, run] of Object.entries(EXPERIMENTS)) {
    if (isJoined && OF_ONE_LIST.includes(experiment)) continue;
    try {
      findings.push(...(await run(subject)));
    } catch (error) {
      if (!(error instanceof NotTried)) throw error;
      notTried.push({ experiment, why: error.message });
    }
  }
  return { findings, notTried };
}
