import fc from 'fast-check';
import { type Message, messages } from './messages.ts';

/** Begins every token that is sent: never to be found in an answer or a log. */
export const TOKEN = 'token-of-the-fuzz';

/** A request as it goes over the wire, its body framed as it should be. */
export interface Request {
  readonly head: string;
  readonly body: Buffer;
}

/** The platform takes most of them, refuses one, and denies another. */
const TOKENS = [...Array<string>(8).fill(TOKEN), `${TOKEN}-refused`, `${TOKEN}-denied`];

type Field = readonly [name: string, value: string];

const NONSENSE = [
  ...['', ' ', ',', ';', '=?base64??=', '=?base64?%%?=', '=?BASE64?YQ==?=', '=?base64?/w==?=', '=?base64?YQ==', '\t'],
  ...['\xe4\xff', '"', '\\', '__proto__', 'constructor', 'a'.repeat(3000), 'a, b', '2026-07-28, 2026-07-28'],
];

const nonsense = fc.oneof(
  fc.constantFrom(...NONSENSE),
  fc.string({ maxLength: 30 }).map((text) => text.replaceAll(/[^\x20-\x7e]/g, '')),
);

/** Mostly what an honest client sends, now and then another thing, now and then nothing, or both. */
function field(name: string, honest: string | readonly string[], other: fc.Arbitrary<string> = nonsense) {
  const values = typeof honest === 'string' ? [honest] : honest;
  return fc.oneof(
    { weight: 60, arbitrary: fc.constantFrom(...values).map((value): Field[] => [[name, value]]) },
    { weight: 4, arbitrary: other.map((value): Field[] => [[name, value]]) },
    { weight: 3, arbitrary: fc.constant<Field[]>([]) },
    { weight: 1, arbitrary: other.map((value): Field[] => [values[0] ?? '', value].map((each) => [name, each])) },
  );
}

const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;
const printable = (text: string) => (/^[\x21-\x7e]*$/.test(text) ? text : base64(text));

function fieldsFor({ method, name }: Message): fc.Arbitrary<Field[]> {
  const mcp = fc.tuple(
    field('MCP-Protocol-Version', ['2026-07-28', '2026-07-28', '2026-07-28', '2025-11-25', '2025-03-26', '2031-01-01']),
    field('Mcp-Method', printable(method)),
    field('Mcp-Name', [printable(name), base64(name)]),
  );
  const none = fc.constant<Field[][]>([]);
  const rare = (name: string, ...values: string[]) =>
    fc.oneof(
      { weight: 30, arbitrary: fc.constant<Field[]>([]) },
      { weight: 1, arbitrary: fc.oneof(fc.constantFrom(...values), nonsense).map((value): Field[] => [[name, value]]) },
    );
  return fc
    .tuple(
      field('Host', 'localhost', fc.constantFrom('evil.example', 'localhost:99999', '', '[::1', 'a b')),
      field(
        'Authorization',
        TOKENS.map((token) => `Bearer ${token}`),
        fc.oneof(fc.constantFrom(`Basic ${TOKEN}`, `Bearer ${TOKEN} a`, `Bearer ${TOKEN},`), nonsense),
      ),
      field('Content-Type', ['application/json', 'application/json; charset=utf-8']),
      field('Accept', ['application/json, text/event-stream', '*/*']),
      fc.oneof({ weight: 2, arbitrary: mcp }, { weight: 1, arbitrary: none }),
      rare('Cache-Control', 'no-cache', 'no-store, max-age=0'),
      rare('Content-Encoding', 'gzip', 'identity'),
      rare('Origin', 'null', 'http://evil.example', 'http://localhost'),
      rare('X-Request-Id', 'mine', 'a b'),
      rare('traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', '00-0'),
      rare('Mcp-Session-Id', 'a'),
      rare('Last-Event-ID', '1'),
      rare('Expect', '100-continue', 'nothing'),
      rare('Connection', 'close', 'keep-alive, Upgrade'),
      rare('Upgrade', 'websocket', 'h2c'),
      rare('X-Big', 'b'.repeat(20_000)),
    )
    .map(([host, authorization, type, accept, named, ...rest]) =>
      [host, authorization, type, accept, ...named, ...rest].flat(),
    );
}

const target = fc.oneof(
  { weight: 60, arbitrary: fc.constantFrom('/mcp', '/mcp?a=b') },
  { weight: 1, arbitrary: fc.constantFrom('/mcp/', '/MCP', '//mcp', '/mcp#a', '/m%63p', 'http://localhost/mcp', '*') },
  { weight: 1, arbitrary: fc.constant(`/mcp?${'a'.repeat(9000)}`) },
);
const verb = fc.oneof(
  { weight: 60, arbitrary: fc.constant('POST') },
  { weight: 1, arbitrary: fc.constantFrom('GET', 'DELETE', 'OPTIONS', 'PUT', 'QUERY', 'post') },
);

export const lines = (first: string, fields: readonly Field[]) =>
  `${first}\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}`;

/** A whole request of any message, with any headers. */
export const requests: fc.Arbitrary<Request> = messages.chain((message) =>
  fc.tuple(verb, target, fieldsFor(message)).map(([method, path, fields]) => ({
    head: lines(`${method} ${path} HTTP/1.1`, fields),
    body: message.body,
  })),
);

/** As bytes, with the length that it has. */
export function framed({ head, body }: Request): Buffer {
  return Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`, 'latin1'), body]);
}
