import { parseDocument } from 'yaml';
import { DOCUMENT } from '../input-bounds.ts';

/**
 * Parses a document in JSON or YAML. Tolerant, since many published documents are not valid YAML. Returns undefined if nothing
 * can be read, or if aliases multiply.
 */
export function parseDocumentText(text: string): unknown {
  try {
    return parseJson(text) ?? parseYaml(text);
  } catch {
    return undefined;
  }
}

/** Parses JSON. Returns undefined for anything else. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseYaml(text: string): unknown {
  const options = { strict: false, uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const;
  return parseDocument(text, options).toJS({ maxAliasCount: DOCUMENT.aliases });
}
