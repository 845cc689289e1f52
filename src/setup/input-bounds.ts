/**
 * Bounds on what documents and platforms send to `init` and `check --probe`. All of it may be hostile; what lies beyond a
 * bound is not looked at.
 */

/** Of an OpenAPI document. */
export const DOCUMENT = {
  bytes: 33_554_432,
  timeoutMs: 30_000,
  /** Aliases that a YAML document may expand to. */
  aliases: 1000,
  paths: 20_000,
  /** References that are followed one after the other. */
  references: 32,
  /** Schemas that are looked at, in one reply and in the whole document. */
  schemasOfReply: 4000,
  schemas: 2_000_000,
  /** Characters of a text that is searched for words. */
  textLength: 300,
} as const;

/** Of a JSON value, described or seen. */
export const VALUE = {
  depth: 6,
  /** Items of a list whose members are merged. */
  items: 20,
  /** Members of one object. */
  members: 500,
} as const;

/** Of the replies that `init --from` requests. */
export const REPLIES = { bytes: 4_194_304, timeoutMs: 10_000, requests: 200, totalMs: 90_000 } as const;

/** Of the replies that a probe keeps. */
export const PROBE = {
  /** Pages of one read whose bodies are kept. */
  pages: 3,
  /** Body of a reply that is not a page, before it is decoded, and the wait for it. */
  bodyBytes: 16_384,
  bodyWaitMs: 1000,
  /** Requests of all experiments on one resource. */
  requests: 24,
  /** Items that are mapped one by one to find the first valid one. */
  items: 1000,
} as const;

/** Of a platform's JSON that is printed. */
export const PRINTED = { depth: 4, members: 40, elements: 3, values: 300, textLength: 160, listedLength: 300 } as const;
