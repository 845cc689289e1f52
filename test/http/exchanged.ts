import type { Served } from './served.ts';
import { openWire, type WireAnswer } from './wire.ts';

/** An answer without what no two answers have in common. */
function comparable({ status, headers, body }: WireAnswer) {
  const all = Object.fromEntries(headers);
  const id = all['x-request-id'] ?? '';
  delete all['date'];
  return JSON.parse(
    JSON.stringify({ status, headers: all, body: body.toString('latin1') }).replaceAll(
      id === '' ? '\0' : id,
      (found) => (found.length === 36 ? 'a new id' : found),
    ),
  );
}

/** What the access log says, without what no two lines have in common. */
function comparableLine({ time, ms, upstreamMs, partition, requestId, ...line }: Record<string, unknown>) {
  return { ...line, upstream: typeof upstreamMs, partition: typeof partition, id: String(requestId).length };
}

/** Sends one request on a connection of its own, and gives what can be compared of its answer and of the access log. */
export async function exchange(served: Served, text: string): Promise<unknown> {
  const wire = openWire(served.url, { head: text.startsWith('HEAD ') });
  const before = (await served.access(0)).length;
  wire.write(text);
  const answers = await Promise.race([wire.receive(1), wire.closed()]).catch(() => []);
  wire.socket.destroy();
  const lines = answers.length === 0 ? [] : (await served.access(before + 1)).slice(before);
  return { answers: answers.map(comparable), lines: lines.map(comparableLine) };
}
