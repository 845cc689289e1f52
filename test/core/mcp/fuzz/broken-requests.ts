import fc from 'fast-check';
import { framed, lines, type Request, requests, TOKEN } from './requests.ts';

/** What a client does once it has sent its bytes. */
export type Ending = 'end' | 'reset' | 'wait';

/** Bytes for a connection of their own. */
export interface Broken {
  readonly pieces: readonly Buffer[];
  readonly ending: Ending;
}

const bytesOf = (text: string) => Buffer.from(text, 'latin1');
const PING = '{"jsonrpc":"2.0","id":"sound","method":"ping"}';
const FIELDS = [
  ['Host', 'localhost'],
  ['Authorization', `Bearer ${TOKEN}`],
  ['Content-Type', 'application/json'],
] as const;
const HEAD = lines('POST /mcp HTTP/1.1', FIELDS);

/** A request in which nothing is wrong. */
export const SOUND = framed({ head: HEAD, body: Buffer.from(PING) });

const LENGTHS = [
  ...['-1', '+5', '0x10', '1e3', '1.0', '', ' ', '5, 5', '5, 6', '99999999', '99999999999999999999', '1048577', 'a'],
  ...['0', '1', '45', '47', '00046'],
];

/** A body with a wrong length. */
const badLength = fc.tuple(requests, fc.constantFrom(...LENGTHS), fc.boolean()).map(([{ head, body }, told, twice]) => {
  const own = twice ? `Content-Length: ${body.length}\r\n` : '';
  return Buffer.concat([bytesOf(`${head}${own}Content-Length: ${told}\r\n\r\n`), body]);
});

const CHUNKS = [
  ...['0\r\n\r\n', '0\r\nTrailer: a\r\n\r\n', '0\r\nContent-Length: 5\r\n\r\n', '-1\r\n\r\n', 'g\r\na\r\n'],
  ...['5\r\n{"a"\r\n', '5;a=b\r\n{"a":\r\n', '5 \r\n{"a":\r\n', 'ffffffffffffffff1\r\n', '100000000\r\n', '\r\n'],
  ...['1\na\n', '5\r\n{"a":', '0', '1\r\n1\r\n', '2e\r\n', `${PING}\r\n`, '1\r\n \r\n'],
];
const CODINGS = 'chunked|Chunked|gzip, chunked|chunked, chunked|identity|chunked, gzip| chunked|x'.split('|');

/** Chunks, sound or not, announced in some way, with or without a length beside them. */
const chunked = fc
  .tuple(fc.array(fc.constantFrom(...CHUNKS), { maxLength: 6 }), fc.constantFrom('chunked', ...CODINGS), fc.nat(9))
  .map(([chunks, coding, length]) => {
    const beside = length === 0 ? 'Content-Length: 5\r\n' : '';
    return bytesOf(`${HEAD}${beside}Transfer-Encoding: ${coding}\r\n\r\n${chunks.join('')}`);
  });

/** A whole request, cut off, or with bytes in it that do not belong there. */
const spoilt = fc
  .tuple(requests, fc.nat(100_000), fc.constantFrom('cut', 'cut', 'byte', 'insert', 'drop'), fc.nat(255))
  .map(([request, at, how, byte]) => {
    const bytes = framed(request);
    const headEnd = bytes.indexOf('\r\n\r\n') + 4;
    const place = at % (byte % 2 === 0 ? headEnd : bytes.length);
    const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)];
    if (how === 'cut') return before;
    if (how === 'drop') return Buffer.concat([before, after.subarray(1 + (byte % 9))]);
    return Buffer.concat([before, Buffer.of(byte), how === 'byte' ? after.subarray(1) : after]);
  });

const PIECES = [
  ...['POST /mcp HTTP/1.1\r\n', 'POST /mcp HTTP/1.0\r\n', 'POST /mcp HTTP/2.0\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ...['GET /mcp HTTP/1.1\r\n', 'CONNECT /mcp HTTP/1.1\r\n', 'POST /mcp\r\n', ' HTTP/1.1\r\n', '\x16\x03\x01\x02', '\0'],
  ...['Host: localhost\r\n', `Authorization: Bearer ${TOKEN}\r\n`, 'Content-Type: application/json\r\n', ' folded\r\n'],
  ...['Content-Length: 46\r\n', 'Content-Length : 46\r\n', 'Transfer-Encoding: chunked\r\n'],
  ...['Expect: 100-continue\r\n', 'Connection: close\r\n', 'no colon\r\n', ': no name\r\n', 'Mcp-Name: \x01\r\n'],
  ...['\r\n', '\n', '\r', PING, '0\r\n\r\n'],
  HEAD,
  SOUND.toString('latin1'),
];
const patchwork = fc
  .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 10 })
  .map((all) => bytesOf(all.join('')));

/** Several requests in one go, the last one often broken. */
const pipelined = fc
  .tuple(fc.array(requests.map(framed), { minLength: 1, maxLength: 3 }), fc.oneof(spoilt, badLength, chunked))
  .map(([whole, last]) => Buffer.concat([SOUND, ...whole, SOUND, last]));

/** Makes the platform hang, so that the request ends only when the client disconnects. */
const hangUp = fc.constantFrom('resources/read', 'tools/call').map((method) => {
  const params = { uri: 'platform://projects', name: 'list_projects' };
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  return framed({ head: HEAD.replace(TOKEN, `${TOKEN}-slow`), body } satisfies Request);
});

const inPieces = fc
  .tuple(
    fc.oneof(
      { weight: 3, arbitrary: badLength },
      { weight: 3, arbitrary: chunked },
      { weight: 5, arbitrary: spoilt },
      { weight: 4, arbitrary: patchwork },
      { weight: 2, arbitrary: pipelined },
    ),
    fc.array(fc.nat(10_000), { maxLength: 2 }),
  )
  .map(([bytes, cuts]) => {
    const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
    return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
  });

const ending = fc.oneof(
  { weight: 40, arbitrary: fc.constant<Ending>('end') },
  { weight: 6, arbitrary: fc.constant<Ending>('reset') },
  { weight: 1, arbitrary: fc.constant<Ending>('wait') },
);

/** Bytes that are no request, or none that is whole, or more than one; and clients that leave. */
export const brokenRequests: fc.Arbitrary<Broken> = fc.oneof(
  { weight: 100, arbitrary: fc.record({ pieces: inPieces, ending }) },
  { weight: 2, arbitrary: hangUp.map((bytes): Broken => ({ pieces: [bytes], ending: 'reset' })) },
);
