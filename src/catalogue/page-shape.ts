import { GatewayError } from '../kernel/errors.ts';

/** Bytes that have a meaning outside of a text. */
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Deeper than any list of a platform, and no deeper than `JSON.stringify` of any Node gets. */
const MAX_DEPTH = 1000;

/**
 * Throws `upstream_invalid` for a body whose parsing would take more time and memory than its bytes let expect: `[{},{},…]` of
 * 2 MiB takes 60 MB and 0.2 s, half as many brackets in each other 0.3 s. Looks at each byte outside of texts once: 1 ms for
 * 1 MiB. What is no JSON is for the parser to say.
 */
export function checkShape(body: Buffer, maxPageValues: number): void {
  let values = 0;
  let depth = 0;
  for (let at = 0; at < body.length; at += 1) {
    switch (body[at]) {
      case QUOTE:
        at = endOfText(body, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        values += 1;
        if (depth > MAX_DEPTH) throw invalid(`the page nests deeper than ${MAX_DEPTH} levels`);
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
      case COMMA:
        values += 1;
    }
    if (values > maxPageValues) throw invalid('the page holds more values than maxPageValues');
  }
}

/** Where the text ends that begins at `start`: at the next quote before which stands an even number of backslashes. */
function endOfText(body: Buffer, start: number): number {
  let at = start + 1;
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1;
  return at;
}

function invalid(reason: string): GatewayError {
  return new GatewayError('upstream_invalid', { reason });
}
