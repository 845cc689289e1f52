/** Bounds on what documents and platforms send, which may be hostile. What lies beyond is not looked at. */

export const DOCUMENT = {
  timeoutMs: 30_000,
  /** Aliases that a YAML document may expand to. */
  aliases: 1000,
  references: 32,
  /** Characters of a text that is searched for words. */
  textLength: 300,
} as const;

export const PROBE = {
  /** Pages of one read whose bodies are kept. */
  pages: 3,
  /** Body of a reply that is not a page, before it is decoded, and the wait for it. */
  bodyBytes: 16_384,
  bodyWaitMs: 1000,
  requests: 24,
  /** Items that are mapped one by one to find the first valid one. */
  items: 1000,
} as const;

export const PRINTED = { depth: 4, members: 40, elements: 3, values: 300, textLength: 160, listedLength: 300 } as const;
