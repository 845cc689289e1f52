const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** A body as JSON. Throws for what is not JSON, or not UTF-8. */
export function parseMessage(body: Uint8Array): unknown {
  return JSON.parse(UTF8.decode(body));
}

/** The id that an answer to a message has: `null` where the message has none that could be read. */
export function idOf(message: unknown): string | number | null {
  const id: unknown = Array.isArray(message) ? undefined : Object(message).id;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
