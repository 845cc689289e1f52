import type { IncomingHttpHeaders } from 'node:http';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Quote } from '../../snapshots/quotes.ts';
import type { Ask } from '../ask.ts';
import { remainingTtlMs } from '../resources/read.ts';
import { JSON_HEADERS, type McpAnswer, type WholeAnswer } from '../sdk-http.ts';
import { type Formed, formed, isApart } from './form.ts';
import { type Frame, filled, frameOf } from './frame.ts';

/** Methods whose answers depend on nothing but the request and, for a read, the snapshot. */
const CONSTANT: ReadonlySet<unknown> = new Set([
  'ping',
  'resources/list',
  'resources/templates/list',
  'server/discover',
  'tools/list',
]);

/** Forms that are remembered, each of a few kilobytes: clients of one kind send the same ones. */
const MAX_FORMS = 128;

/** What is remembered of a form. */
interface Known {
  readonly rpc: string;
  /** Name of the resource that is read. */
  readonly resource: string | undefined;
  readonly frame: Frame;
}

export interface RepeaterOptions {
  readonly catalogue: Catalogue;
  readonly quote: Quote;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A request, and who asks. */
export interface Repeatable {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly ask: Ask;
}

/** Answers requests as the SDK has answered others that differ in nothing but their id. */
export interface Repeater {
  /**
   * The answer to such a request, if all that it takes is at hand. Otherwise it may be told what the SDK answered, once
   * that is known, and which message it was that the body held.
   */
  answer(request: Repeatable): McpAnswer | ((answer: WholeAnswer, message: unknown) => void) | undefined;
}

/**
 * It knows nothing of the protocol. Which requests are in order, and what is answered to them, it learns from the SDK's
 * own answer to the first one of each form: all but the id, the text of a resource and how long that is fresh.
 */
export function createRepeater({ catalogue, quote, now }: RepeaterOptions): Repeater {
  const known = new Map<string, Known>();

  function learn(request: Formed, { caller }: Ask, answer: WholeAnswer, message: unknown): void {
    const { method, params } = Object(message);
    const isRead = method === 'resources/read' && catalogue.uris.includes(params?.uri);
    if (!(isRead || CONSTANT.has(method)) || answer.status !== 200 || answer.headers !== JSON_HEADERS) return;
    const resource = isRead ? catalogue.find(params.uri) : undefined;
    const load = resource === undefined ? undefined : catalogue.fresh(resource, caller);
    if ((isRead && load === undefined) || !isApart(request)) return;
    const frame = frameOf(answer.body, request.id, load && quote(load));
    if (frame === undefined) return;
    const [oldest] = known.size < MAX_FORMS ? [] : known.keys();
    if (oldest !== undefined) known.delete(oldest);
    known.set(request.form, { rpc: method, resource, frame });
  }

  function repeat({ rpc, resource, frame }: Known, id: string, { caller, noCache, note }: Ask): McpAnswer | undefined {
    if (resource === undefined) {
      note({ rpc });
      return { status: 200, headers: JSON_HEADERS, body: filled(frame, id) };
    }
    const load = noCache ? undefined : catalogue.fresh(resource, caller);
    if (load === undefined) return undefined;
    note({ rpc, resource, upstreamMs: load.upstreamMs, load });
    return { status: 200, headers: JSON_HEADERS, body: filled(frame, id, quote(load), remainingTtlMs(load, now())) };
  }

  return {
    answer({ headers, body, ask }) {
      const request = formed(body, headers);
      if (request === undefined) return undefined;
      const found = known.get(request.form);
      if (found !== undefined) return repeat(found, request.id, ask);
      return (answer, message) => learn(request, ask, answer, message);
    },
  };
}
