import type { Scalar } from 'yaml';
import { type BaseUrl, variableOf } from './base-url.ts';
import { oneLine, referring } from './yaml-text.ts';

/** Environment variables that a settings file needs. */
export interface Variables {
  /** Meaning by name. */
  readonly all: ReadonlyMap<string, string>;
  /** Adds a variable and returns a reference to it. `other` names it if `name` has another meaning. */
  reference(meaning: string, name: string, other?: string): Scalar;
}

export function createVariables({ name: upstream, variable }: BaseUrl): Variables {
  const all = new Map<string, string>();
  if (variable !== undefined) all.set(variable, 'the server, such as https://platform.example.com');
  return {
    all,
    reference(meaning, name, other = name) {
      const what = oneLine(meaning);
      const usual = variableOf(upstream, name);
      const chosen = (all.get(usual) ?? what) === what ? usual : variableOf(upstream, other);
      all.set(chosen, what);
      return referring(`\${${chosen}}`);
    },
  };
}
