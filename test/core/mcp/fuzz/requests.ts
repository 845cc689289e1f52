import fc from 'fast-check';
import { type Message, messages } from './messages.ts';

/** Begins every token that is sent: never to be found in an answer or a log. */
export const TOKEN = 'token-of-the-fuzz';

/** What is sent on one connection. */
export interface Sent {
  readonly bytes: Buffer;
  /** Whether the client leaves without waiting for an answer. */
  readonly leaves: boolean;
  /** The body, where nothing is wrong with the framing. */
  readonly body?: Buffer;
}

type Field = readonly [name: string, value: string];

/** Most tokens are taken by the platform, one is refused, and one denied. */
const TOKENS = [...Array<string>(8).fill(TOKEN), `${TOKEN}-refused`, `${TOKEN}-denied`];

const nonsense = fc.oneof(
  fc.constantFrom(
    ...['', ' ', ',', ';', '=?base64??=', '=?base64?%%?=', '=?base64?/w==?=', '=?base64?YQ==', '\t', '\xe4\xff', '"'],
    ...['\\', '__proto__', 'a'.repeat(3000), '2026-07-28, 2026-07-28', `Basic ${TOKEN}`, `Bearer ${TOKEN} a`],
    'localhost:99999',
  ),
  fc.string({ maxLength: 30 }).map((text) => text.replaceAll(/[^\x20-\x7e]/g, '')),
);

/** Mostly what an honest client sends, now and then another thing, nothing, or both. */
function field(name: string, ...honest: readonly string[]): fc.Arbitrary<Field[]> {
  const value =
    honest.length === 0 ? fc.constant<Field[]>([]) : fc.constantFrom(...honest).map((one): Field[] => [[name, one]]);
  return fc.oneof(
    { weight: 60, arbitrary: value },
    { weight: 3, arbitrary: fc.constant<Field[]>([]) },
    { weight: 4, arbitrary: nonsense.map((other): Field[] => [[name, other]]) },
    { weight: 1, arbitrary: fc.tuple(value, nonsense).map(([own, other]): Field[] => [...own, [name, other]]) },
  );
}

const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;
const printable = (text: string) => (/^[\x21-\x7e]*$/.test(text) ? text : base64(text));

/** Names of headers that most requests leave out, and values that mean something. */
const RARE: Readonly<Record<string, readonly string[]>> = {
  'Cache-Control': ['no-cache', 'no-store, max-age=0'],
  'Content-Encoding': ['gzip', 'identity'],
  Origin: ['null', 'http://evil.example', 'http://localhost'],
  'X-Request-Id': ['mine', 'a b'],
  traceparent: ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
  Expect: ['100-continue', 'nothing'],
  Upgrade: ['websocket', 'h2c'],
  'Transfer-Encoding': ['chunked', 'Chunked', 'gzip, chunked', 'identity'],
  'Content-Length': ['-1', '0', '5', '0x10', '1e3', '99999999999999999999', '5, 6', ''],
  'X-Big': ['b'.repeat(20_000)],
};
const rare = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Field[]>([]) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(...Object.entries(RARE))
      .chain(([name, values]) =>
        fc.oneof(fc.constantFrom(...values), nonsense).map((value): Field[] => [[name, value]]),
      ),
  },
);

function headOf({ method, name }: Message): fc.Arbitrary<Field[]> {
  const versions = ['2026-07-28', '2026-07-28', '2026-07-28', '2025-11-25', '2025-03-26', '2031-01-01'];
  const mcp = fc.tuple(
    field('MCP-Protocol-Version', ...versions),
    field('Mcp-Method', printable(method)),
    field('Mcp-Name', printable(name), base64(name)),
  );
  const fields = fc.tuple(
    field('Host', 'localhost'),
    field('Authorization', ...TOKENS.map((token) => `Bearer ${token}`)),
    field('Content-Type', 'application/json', 'application/json; charset=utf-8'),
    field('Accept', 'application/json, text/event-stream', '*/*'),
    fc.oneof(
      { weight: 2, arbitrary: mcp.map((all) => all.flat()) },
      { weight: 1, arbitrary: fc.constant<Field[]>([]) },
    ),
    rare,
  );
  return fields.map((all) => all.flat());
}

const ODD_LINES = [
  ...[
    'POST /mcp/',
    'POST //mcp',
    'POST /m%63p',
    'POST http://localhost/mcp',
    'POST *',
    `POST /mcp?${'a'.repeat(9000)}`,
  ],
  ...['GET /mcp', 'DELETE /mcp', 'QUERY /mcp', 'post /mcp', 'CONNECT /mcp'],
];
const firstLine = fc.oneof(
  { weight: 60, arbitrary: fc.constantFrom('POST /mcp', 'POST /mcp?a=b') },
  { weight: 1, arbitrary: fc.constantFrom(...ODD_LINES) },
);

/** A request as bytes, with the length that its body has, and the last of its connection. */
function framed(first: string, fields: readonly Field[], body: Buffer): Buffer {
  const lines = [...fields, ['Content-Length', String(body.length)], ['Connection', 'close']];
  const head = `${first} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}

const FIELDS: readonly Field[] = [
  ['Host', 'localhost'],
  ['Authorization', `Bearer ${TOKEN}`],
  ['Content-Type', 'application/json'],
];

/** A request in which nothing is wrong. */
export const SOUND = framed('POST /mcp', FIELDS, Buffer.from('{"jsonrpc":"2.0","id":"sound","method":"ping"}'));

const FRAMING: ReadonlySet<string> = new Set(['Expect', 'Transfer-Encoding', 'Content-Length', 'Upgrade']);

/** Any message, with any headers. */
const whole = messages.chain((message) =>
  fc.tuple(firstLine, headOf(message)).map(([first, fields]): Sent => {
    const isFramed = first.startsWith('POST') && !fields.some(([name]) => FRAMING.has(name));
    return { bytes: framed(first, fields, message.body), leaves: false, ...(isFramed && { body: message.body }) };
  }),
);

/** Whole requests that are cut off, have bytes that do not belong there, or come behind another. */
const spoilt = fc
  .tuple(
    whole,
    fc.nat(100_000),
    fc.constantFrom('cut', 'cut', 'byte', 'insert', 'drop', 'behind'),
    fc.nat(255),
    fc.nat(6),
  )
  .map(([{ bytes }, at, how, byte, leaving]): Sent => {
    const place = at % (byte % 2 === 0 ? Math.max(1, bytes.indexOf('\r\n\r\n')) : bytes.length);
    const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)];
    const made = {
      cut: [before],
      byte: [before, Buffer.of(byte), after.subarray(1)],
      insert: [before, Buffer.of(byte), after],
      drop: [before, after.subarray(1 + (byte % 9))],
      behind: [Buffer.from(SOUND.toString('latin1').replace('Connection: close\r\n', '')), bytes],
    };
    return { bytes: Buffer.concat(made[how as keyof typeof made]), leaves: leaving === 0 };
  });

/** Makes the platform hang, so that the request ends only when the client leaves. */
const hangUp = fc.constantFrom('resources/read', 'tools/call').map((method): Sent => {
  const params = { uri: 'platform://projects', name: 'list_projects' };
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  const slow = FIELDS.map(([name, value]): Field => [name, value.replace(TOKEN, `${TOKEN}-slow`)]);
  return { bytes: framed('POST /mcp', slow, body), leaves: true };
});

/** Requests, sound or not, and clients that leave. */
export const requests: fc.Arbitrary<Sent> = fc.oneof(
  { weight: 60, arbitrary: whole },
  { weight: 40, arbitrary: spoilt },
  { weight: 1, arbitrary: hangUp },
);
