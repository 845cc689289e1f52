import type { Experiment, Shown, Subject } from './experiment.ts';
import { paging, query } from './parameters.ts';
import { publicList } from './public-list.ts';
import { SETTINGS_EXPERIMENTS } from './settings.ts';
import { NotTried } from './trial.ts';

/** All experiments, in the order in which they run. */
const EXPERIMENTS: readonly Experiment[] = [...SETTINGS_EXPERIMENTS, publicList, paging, query];

/** An experiment that showed nothing, and why. */
export interface Untried {
  readonly experiment: string;
  readonly why: string;
}

/** What the experiments on one read show. */
export async function runExperiments(
  subject: Subject,
  onExperiment: (name: string) => void,
): Promise<{ readonly shown: readonly Shown[]; readonly notTried: readonly Untried[] }> {
  const shown: Shown[] = [];
  const notTried: Untried[] = [];
  for (const { name, run } of EXPERIMENTS) {
    onExperiment(name);
    try {
      shown.push(...(await run(subject)));
    } catch (error) {
      if (!(error instanceof NotTried)) throw error;
      notTried.push({ experiment: name, why: error.message });
    }
  }
  return { shown, notTried };
}
