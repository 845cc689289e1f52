import { createServer, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../listening.ts';
import { json } from '../platform/http-upstream.ts';

export interface ReceivedSpan {
  readonly name: string;
  readonly kind: 'INTERNAL' | 'SERVER' | 'CLIENT';
  readonly traceId: string;
  readonly spanId: string;
  /** Empty where there is none. */
  readonly parentId: string;
  /** Ids of spans. */
  readonly links: readonly string[];
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly failed: boolean;
  /** Nanoseconds since the epoch. */
  readonly begun: bigint;
  /** Of the service that it is from. */
  readonly resource: Readonly<Record<string, string | number>>;
}

export type Collector = Awaited<ReturnType<typeof startCollector>>;

interface Tree {
  readonly [name: string]: Tree;
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

const KINDS = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT'];

/** A collector of traces that takes OTLP over HTTP, in JSON. It has the spans that it took so far, and bodies and headers as they came. */
export async function startCollector() {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const headers: Record<string, unknown>[] = [];
  const take: RequestListener = async (request, response) => {
    headers.push(request.headers);
    const body = await text(request);
    bodies.push(body);
    spans.push(...spansIn(JSON.parse(body)));
    json({})(request, response);
  };
  let respond = take;
  const server = createServer((request, response) => respond(request, response));
  const all = (name: string): readonly ReceivedSpan[] => spans.filter((span) => span.name === name);
  return {
    ...(await listen(server)),
    ...{ spans, bodies, headers, all, take },
    /** The one span of this name. Throws where there is none, or more. */
    one(name: string): ReceivedSpan {
      const [span, ...others] = all(name);
      if (span === undefined || others.length > 0) {
        throw new Error(
          `${others.length + (span ? 1 : 0)} of ${name} among ${spans.map((one) => one.name).join(', ')}`,
        );
      }
      return span;
    },
    /** Spans below one, each with those below it: names alone, in the order in which they began. */
    tree(of = ''): Tree {
      const below = (parentId: string): Tree =>
        Object.fromEntries(
          spans
            .filter((span) => span.parentId === parentId)
            .sort((a, b) => Number(a.begun - b.begun))
            .map(({ kind, name, spanId }, index) => [`${index + 1} ${kind} ${name}`, below(spanId)]),
        );
      return below(of);
    },
    /** Has it respond like this from now on, and take nothing. */
    respond(handler: RequestListener) {
      respond = handler;
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a request of OTLP, as it came.
function spansIn({ resourceSpans: [{ resource, scopeSpans }] }: any): ReceivedSpan[] {
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  return scopeSpans[0].spans.map(({ name, traceId, spanId, parentSpanId = '', ...span }: any) => ({
    ...{ name, traceId, spanId, parentId: parentSpanId, kind: KINDS[span.kind] },
    links: span.links.map((link: { spanId: string }) => link.spanId),
    attributes: valuesOf(span.attributes),
    failed: span.status.code === 2,
    begun: BigInt(span.startTimeUnixNano),
    resource: valuesOf(resource.attributes),
  }));
}

function valuesOf(attributes: readonly Attribute[]): ReceivedSpan['attributes'] {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue } }) => [key, stringValue ?? Number(intValue)]),
  );
}
