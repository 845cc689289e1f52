/** What stands around the parts of an answer that differ from one request of a form to the next. */
export interface Frame {
  /** Up to the text of the resource or, without one, up to the id. */
  readonly before: Buffer;
  /** From there up to what is left of its freshness in milliseconds or, without that, up to the id. */
  readonly after: string;
  /** From there up to the id; `undefined` where the answer says nothing of freshness. */
  readonly afterTtl: string | undefined;
}

/** How answers begin that are no error. */
const RESULT = '{"result":';
const ID_KEY = '"id":';
const TTL = /(?<="ttlMs":)\d+/;

/**
 * Cuts out of an answer what belongs to this one request: its id and, where there is one, the `quoted` text of the
 * resource and how long that is fresh. `undefined` where the answer is not built that way, or is no result.
 */
export function frameOf(answer: Buffer, id: string, quoted?: Buffer): Frame | undefined {
  const start = quoted === undefined ? answer.length : answer.indexOf(quoted);
  if (start === -1 || answer.toString('latin1', 0, RESULT.length) !== RESULT) return undefined;
  const rest = quoted === undefined ? answer : answer.subarray(start + quoted.length);
  const text = rest.toString();
  const end = `${ID_KEY}${id}}`;
  if (!text.endsWith(end)) return undefined;
  const upToId = text.slice(0, ID_KEY.length - end.length);
  if (quoted === undefined) return { before: Buffer.from(upToId), after: '', afterTtl: undefined };
  const [after = '', afterTtl, ...more] = upToId.split(TTL);
  // A copy: the answer itself would be kept with a part of it.
  return more.length > 0 ? undefined : { before: Buffer.from(answer.subarray(0, start)), after, afterTtl };
}

/** The answer to another request of the form, in pieces. */
export function filled({ before, after, afterTtl }: Frame, id: string, quoted?: Buffer, ttlMs?: number): Buffer[] {
  const rest = Buffer.from(`${after}${afterTtl === undefined ? '' : `${ttlMs}${afterTtl}`}${id}}`);
  return quoted === undefined ? [before, rest] : [before, quoted, rest];
}
