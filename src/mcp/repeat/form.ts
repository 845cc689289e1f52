import type { IncomingHttpHeaders } from 'node:http';
import { MCP_HEADERS } from '../sdk-http.ts';

/** Longer bodies are not worth remembering. */
const MAX_BODY_BYTES = 2048;

const ID_KEY = '"id":';

/** An id, in the one spelling that answers have for it, too. */
const ID = /(?:0|-?[1-9]\d{0,14}|"[\w.:-]{0,64}")(?=[,}])/y;

/** A request in two parts: its id, and all else that its answer may depend on. */
export interface Formed {
  /** As it is written in JSON. */
  readonly id: string;
  /** The body as bytes (Latin-1) up to the id, and from there on. */
  readonly before: string;
  readonly after: string;
  /** Both of them, and the headers. */
  readonly form: string;
}

/** Takes a request apart, without parsing it. `undefined` where it is long, or its id does not stand out. */
export function formed(body: Buffer, headers: IncomingHttpHeaders): Formed | undefined {
  if (body.length > MAX_BODY_BYTES) return undefined;
  const text = body.toString('latin1');
  const start = text.indexOf(ID_KEY) + ID_KEY.length;
  if (start < ID_KEY.length || text.indexOf(ID_KEY, start) !== -1) return undefined;
  ID.lastIndex = start;
  const [id] = ID.exec(text) ?? [];
  if (id === undefined) return undefined;
  const before = text.slice(0, start);
  const after = text.slice(start + id.length);
  let form = `${before}\n${after}`;
  // No header holds a line break; and one that is absent is not one that is empty.
  for (const name of MCP_HEADERS) form += headers[name] === undefined ? '\n' : `\n=${headers[name]}`;
  return { id, before, after, form };
}

/**
 * Whether it is the id of the message itself that was taken out, and not what only looks like it. So it is where another
 * one in its place becomes the message's; then every id there makes a message that is the same but for its id.
 */
export function isApart({ before, after }: Formed): boolean {
  const other = '"the id of another request"';
  try {
    const message: unknown = JSON.parse(before + other + after);
    return Object(message).id === JSON.parse(other);
  } catch {
    return false;
  }
}
