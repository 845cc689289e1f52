import { isScalar, type Schema } from 'yaml';

/**
 * What plain text is under `schema`: the number, boolean or null that a file would have had in its place. Text stays
 * text, and nothing here can become a list or a block. Empty text stays text too: an empty variable is not a null.
 */
export function coreScalar(text: string, schema: Schema): unknown {
  if (text === '') return text;
  for (const tag of schema.tags) {
    if (tag.collection !== undefined || tag.default !== true || tag.test?.test(text) !== true) continue;
    const resolved = tag.resolve(text, () => {}, {});
    return isScalar(resolved) ? resolved.value : resolved;
  }
  return text;
}
