import type { z } from 'zod';
import type { ConfigIssue } from './config-error.ts';
import { plainWords } from './plain-words.ts';
import type { Settings, SettingsSchema } from './schema/settings.ts';

/** An issue that has no place in a file yet. */
export interface Finding extends Pick<ConfigIssue, 'path' | 'message'> {
  /** Whether the last key of the path is wrong, and not its value. @default false */
  readonly key?: boolean;
}

export type Checked = { readonly settings: Settings } | { readonly findings: readonly Finding[] };

/** Holds settings against the schema: valid, with every default filled in, or all that is wrong with them, each once. */
export function checkSettings(input: unknown, schema: SettingsSchema): Checked {
  // Settings are read once, in less time than it takes to write code that would read them faster.
  const { success, data, error } = schema.safeParse(input, { error: plainWords(schema), jitless: true });
  // The schema fills in what its type leaves open.
  if (success) return { settings: data as Settings };
  const findings = new Map<string, Finding>();
  for (const finding of error.issues.flatMap((issue) => findingsOf(issue, []))) {
    findings.set(JSON.stringify([finding.path, finding.message]), finding);
  }
  return { findings: [...findings.values()] };
}

function findingsOf(issue: z.core.$ZodIssue, above: ConfigIssue['path']): Finding[] {
  // Paths of settings consist of text and positions: no key is a symbol.
  const path = [...above, ...(issue.path as (string | number)[])];
  switch (issue.code) {
    case 'unrecognized_keys': {
      const messages = issue.message.split('\n');
      return issue.keys.map((key, index) => ({ path: [...path, key], key: true, message: messages[index] ?? '' }));
    }
    case 'invalid_key':
      return issue.issues.map(({ message }) => ({ path, key: true, message }));
    case 'invalid_union': {
      const meant = issue.errors.find(fits);
      return meant?.flatMap((inner) => findingsOf(inner, path)) ?? [{ path, message: issue.message }];
    }
    default:
      return [{ path, message: issue.message }];
  }
}

/** Returns whether the value has the type of this option of a union. If so, the issues of the option are reported. */
function fits(option: readonly z.core.$ZodIssue[]): boolean {
  return !option.some(({ code, path }) => code === 'invalid_type' && path.length === 0);
}
