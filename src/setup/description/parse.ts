import { parseDocument } from 'yaml';

/** Aliases that a document may repeat; one that makes more of itself is none. */
const MAX_ALIASES = 1000;

/**
 * The value that a text in JSON or YAML stands for. What a stricter reader would not take is left out or guessed, since
 * many published documents are not quite YAML. Undefined where nothing can be made of it.
 */
export function parseText(text: string): unknown {
  try {
    return parseJson(text) ?? parseYaml(text);
  } catch {
    return undefined;
  }
}

/** The value that a text in JSON stands for; undefined where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseYaml(text: string): unknown {
  const options = { strict: false, uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const;
  return parseDocument(text, options).toJS({ maxAliasCount: MAX_ALIASES });
}
