import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface ExpectedFailure {
  readonly scenario: string;
  readonly check: string;
  /** Why the check may fail. */
  readonly reason: { readonly kind: 'fixture' | 'unclaimed'; readonly name: string };
}

const LINE = /^ {2}- ([\w-]+):([\w-]+) # (fixture|unclaimed): (\S+)$/;

/** The file of a revision, as the suite takes it. */
export function expectedFailuresFile(revision: string): string {
  return fileURLToPath(new URL(`${revision}.yaml`, import.meta.url));
}

/** Its lines. Throws for one that gives no reason, or that excuses a whole scenario. */
export function expectedFailures(revision: string): ExpectedFailure[] {
  const [before = '', entries = ''] = readFileSync(expectedFailuresFile(revision), 'utf8').split(/^server:\n/m);
  if (!/^(#.*\n)+$/.test(before)) throw new Error(`${revision}.yaml excuses more than servers`);
  return entries
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, scenario, check, kind, name] = LINE.exec(line) ?? [];
      if (scenario === undefined || check === undefined || name === undefined) throw new Error(`no reason: ${line}`);
      return { scenario, check, reason: { kind: kind === 'fixture' ? 'fixture' : 'unclaimed', name } };
    });
}
