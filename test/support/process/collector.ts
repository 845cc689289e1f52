import { createServer, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Listening, listen } from '../listening.ts';
import { json } from '../platform/http-upstream.ts';

/** A span as it came. */
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

/** A collector of traces that takes OTLP over HTTP, in JSON. */
export interface Collector extends Listening {
  /** What it took so far. */
  readonly spans: readonly ReceivedSpan[];
  /** Bodies as they came. */
  readonly bodies: readonly string[];
  readonly headers: readonly Readonly<Record<string, unknown>>[];
  /** The one span of this name. Throws where there is none, or more. */
  one(name: string): ReceivedSpan;
  all(name: string): readonly ReceivedSpan[];
  /** Spans below one, each with those below it: names alone, in the order in which they began. */
  tree(of?: string): Tree;
  /** Has it respond like this from now on, and take nothing. */
  respond(handler: RequestListener): void;
}

interface Tree {
  readonly [name: string]: Tree;
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

interface OtlpSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly links: readonly { readonly spanId: string }[];
  readonly status: { readonly code: number };
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

const KINDS = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT'];

export async function startCollector(): Promise<Collector> {
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
  const all = (name: string) => spans.filter((span) => span.name === name);
  return {
    ...(await listen(server)),
    ...{ spans, bodies, headers, all },
    one(name) {
      const [span, ...others] = all(name);
      if (span === undefined || others.length > 0) {
        throw new Error(
          `${others.length + (span ? 1 : 0)} of ${name} among ${spans.map((one) => one.name).join(', ')}`,
        );
      }
      return span;
    },
    tree(of) {
      const below = (parentId: string): Tree =>
        Object.fromEntries(
          spans
            .filter((span) => span.parentId === parentId)
            .sort((a, b) => Number(a.begun - b.begun))
            .map(({ kind, name, spanId }, index) => [`${index + 1} ${kind} ${name}`, below(spanId)]),
        );
      return below(of ?? '');
    },
    respond(handler) {
      respond = handler;
    },
  };
}

function spansIn({ resourceSpans }: OtlpRequest) {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({
        ...{ name: span.name, traceId: span.traceId, spanId: span.spanId, parentId: span.parentSpanId ?? '' },
        kind: KINDS[span.kind] as ReceivedSpan['kind'],
        links: span.links.map(({ spanId }) => spanId),
        attributes: valuesOf(span.attributes),
        failed: span.status.code === 2,
        begun: BigInt(span.startTimeUnixNano),
        resource: valuesOf(resource.attributes),
      })),
    ),
  );
}

function valuesOf(attributes: readonly Attribute[]): ReceivedSpan['attributes'] {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue } }) => [key, stringValue ?? Number(intValue)]),
  );
}
