import { attributesOf, isError, SCHEMA_URL, SPANS } from './conventions.ts';
import type { RecordedSpan } from './recorded-span.ts';

const STATUS_UNSET = 0;
const STATUS_ERROR = 2;

/** Returns what writes spans as a request of OTLP in JSON (opentelemetry-proto 1.x: ids in hexadecimal, nanoseconds as decimal text). */
export function createOtlpWriter({
  name,
  version,
  instanceId,
}: Readonly<Record<'name' | 'version' | 'instanceId', string>>) {
  const resource = {
    attributes: keyValues({ 'service.name': name, 'service.version': version, 'service.instance.id': instanceId }),
  };
  const scope = { name: 'portico', version };
  return (spans: readonly RecordedSpan[]) => {
    const scopeSpans = [{ scope, spans: spans.map(otlpSpan), schemaUrl: SCHEMA_URL }];
    return JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] });
  };
}

function otlpSpan(span: RecordedSpan): object {
  const { about, traceId, spanId, parentId, facts, begun, ended = begun, links } = span;
  const { epochMs } = span.trace;
  return {
    traceId,
    spanId,
    parentSpanId: parentId,
    name: SPANS[about].name(facts),
    kind: SPANS[about].kind,
    startTimeUnixNano: nanoseconds(epochMs + begun),
    endTimeUnixNano: nanoseconds(epochMs + ended),
    attributes: keyValues(attributesOf(facts)),
    links: links.map((other) => ({ traceId: other.traceId, spanId: other.spanId })),
    status: { code: isError(facts) ? STATUS_ERROR : STATUS_UNSET },
  };
}

function keyValues(attributes: Readonly<Record<string, string | number | undefined>>): object[] {
  const known: object[] = [];
  for (const key in attributes) {
    const value = attributes[key];
    if (typeof value === 'number') known.push({ key, value: { intValue: value } });
    else if (value !== undefined) known.push({ key, value: { stringValue: value } });
  }
  return known;
}

/** In whole microseconds: a double has no more digits. */
function nanoseconds(epochMs: number): string {
  return `${Math.round(epochMs * 1000)}000`;
}
