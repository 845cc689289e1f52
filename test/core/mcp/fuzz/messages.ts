import fc from 'fast-check';
import { anyCharacter, anyText } from '../../../support/any-text.ts';
import { TOOL_NAMES } from '../../../support/resources.ts';
import { ENVELOPE } from '../asked.ts';

/** A body, with the MCP headers that an honest client would send. */
export interface Message {
  readonly body: Buffer;
  readonly method: string;
  /** What `Mcp-Name` repeats; empty where there is nothing. */
  readonly name: string;
}

/** Members of an object as text, in order: a key may come twice, and a number may be any. */
type Members = readonly (readonly [key: string, value: string])[];

/** In bodies only: never to be found in a log. */
export const MARK = 'mark-of-the-body';

const METHODS = [
  ...['resources/read', 'resources/list', 'resources/templates/list', 'resources/subscribe', 'tools/list'],
  ...['tools/call', 'initialize', 'ping', 'server/discover', 'subscriptions/listen', 'notifications/initialized'],
  ...['notifications/cancelled', 'completion/complete', 'prompts/get', 'logging/setLevel'],
];
const ODD_NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', 'valueOf', '', ' ', 'a\nb', MARK];
const URIS = ['platform://projects', 'platform://workflows', 'platform://tools', 'platform://nothing', 'http://a/b'];

const quote = (text: string) => JSON.stringify(text);
const write = (members: Members) => `{${members.map(([key, value]) => `${quote(key)}:${value}`).join(',')}}`;

/** JSON of the wrong type. */
const odd = fc.oneof(
  fc.constantFrom(
    ...['null', 'true', 'false', '0', '-0', '-1', '1.5', '1e400', '-1e-400', '9007199254740993', '""', '[]', '{}'],
    ...['[[[[]]]]', '{"__proto__":{"a":1}}', '{"constructor":{"prototype":{}}}', '"\\ud800"', '"\\u0000"', '"a\\nb"'],
    ...[`"${MARK}"`, '1'.repeat(400), `"${'x'.repeat(5000)}"`, `${'['.repeat(500)}${']'.repeat(500)}`, '[null]'],
    ...['{"toString":1}', '{"then":1}', '{"length":-1}', '"2026-07-28"', '"2025-03-26"'],
  ),
  fc.constantFrom(...ODD_NAMES).map(quote),
  fc.json({ maxDepth: 3, stringUnit: anyCharacter }),
);

/** What may befall the members of an object. */
const change = fc.record({
  how: fc.constantFrom('drop', 'replace', 'repeat', 'add', 'rename'),
  at: fc.nat(7),
  key: fc.constantFrom(...ODD_NAMES, 'id', 'method', 'params', '_meta', 'uri', 'name', 'cursor', 'result', 'error'),
  value: odd,
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function changed(members: Members, changes: readonly Change[]): Members {
  const so = [...members];
  for (const { how, at, key, value } of changes) {
    const index = at % Math.max(1, so.length);
    const here = so[index];
    if (here === undefined || how === 'add') so.push([key, value]);
    else if (how === 'repeat') so.push([here[0], value]);
    else if (how === 'drop') so.splice(index, 1);
    else so.splice(index, 1, how === 'rename' ? [key, here[1]] : [here[0], value]);
  }
  return so;
}

/** Few changes: with many, nothing gets past the first check. */
const changes = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 2, arbitrary: fc.array(change, { minLength: 1, maxLength: 2 }) },
);

const envelope: Members = Object.entries(ENVELOPE).map(([key, value]) => [key, JSON.stringify(value)]);

const parts = fc.record({
  method: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...METHODS) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_NAMES) },
  ),
  id: fc.oneof(
    { weight: 4, arbitrary: fc.integer().map(String) },
    { weight: 2, arbitrary: fc.string({ maxLength: 20 }).map(quote) },
    { weight: 1, arbitrary: odd },
  ),
  uri: fc.oneof(
    fc.constantFrom(...URIS),
    anyText().map((text) => `https://a.example/${encodeURIComponent(text)}`),
  ),
  tool: fc.constantFrom(...TOOL_NAMES, 'list_nothing', ...ODD_NAMES),
  modern: fc.boolean(),
  version: fc.constantFrom('2026-07-28', '2026-07-28', '2026-07-28', '2025-11-25', '2031-01-01', '', MARK),
  argumentChanges: changes,
  paramsChanges: changes,
  metaChanges: changes,
  changes,
});
type Parts = typeof parts extends fc.Arbitrary<infer T> ? T : never;

function membersFor({ method, uri, tool, argumentChanges }: Parts): Members {
  const given = write(changed([['limit', '1']], argumentChanges));
  const client = [
    ['protocolVersion', '"2025-06-18"'],
    ['capabilities', '{}'],
  ] as const;
  const members: Readonly<Record<string, Members>> = {
    'resources/read': [['uri', quote(uri)]],
    'resources/subscribe': [['uri', quote(uri)]],
    'tools/call': [
      ['name', quote(tool)],
      ['arguments', given],
    ],
    initialize: [...client, ['clientInfo', '{"name":"fuzz","version":"1"}']],
    'subscriptions/listen': [['notifications', '{"resourcesListChanged":true}']],
    'notifications/cancelled': [['requestId', '1']],
  };
  return Object.hasOwn(members, method) ? (members[method] ?? []) : [];
}

function textOf(of: Parts): string {
  const [version, ...rest] = envelope;
  const meta = version === undefined ? [] : changed([[version[0], quote(of.version)], ...rest], of.metaChanges);
  const own = membersFor(of);
  const params = changed(of.modern ? [...own, ['_meta', write(meta)]] : own, of.paramsChanges);
  const members: Members = [
    ['jsonrpc', '"2.0"'],
    ['id', of.id],
    ['method', quote(of.method)],
    ['params', write(params)],
  ];
  const told = of.method.startsWith('notifications/') ? members.filter(([key]) => key !== 'id') : members;
  return write(changed(told, of.changes));
}

const single: fc.Arbitrary<Message> = parts.map((of) => {
  const name = of.method === 'tools/call' ? of.tool : of.method === 'resources/read' ? of.uri : '';
  return { body: Buffer.from(textOf(of)), method: of.method, name };
});

const unnamed = (body: Buffer | string): Message => ({ body: Buffer.from(body), method: 'resources/read', name: '' });

const batch = fc
  .array(fc.oneof({ weight: 5, arbitrary: parts.map(textOf) }, odd), { maxLength: 4 })
  .map((texts) => unnamed(`[${texts.join(',')}]`));

/** Bytes at which a message is cut, changed or begun in another way. */
const spoilt = fc
  .record({
    message: single,
    at: fc.nat(10_000),
    how: fc.constantFrom('cut', 'byte', 'insert', 'mark', 'utf16', 'twice'),
    byte: fc.integer({ min: 0, max: 255 }),
  })
  .map(({ message, at, how, byte }): Message => {
    const { body } = message;
    const place = at % (body.length + 1);
    const [before, after] = [body.subarray(0, place), body.subarray(place)];
    const made = {
      cut: () => before,
      byte: () => Buffer.concat([before, Buffer.of(byte), after.subarray(1)]),
      insert: () => Buffer.concat([before, Buffer.of(0xff, 0xc0, byte), after]),
      mark: () => Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), body]),
      utf16: () => Buffer.from(body.toString(), 'utf16le'),
      twice: () => Buffer.concat([body, body]),
    };
    return { ...message, body: made[how as keyof typeof made]() };
  });

const anything = fc.oneof(
  odd.map(unnamed),
  fc.uint8Array({ maxLength: 64 }).map((bytes) => unnamed(Buffer.from(bytes))),
  fc
    .constantFrom('', ' ', '\r\n', '{', '[', '"', '{}', '[]', '[[]]', 'NaN', '\u2028', "{'a':1}", '/**/{}')
    .map(unnamed),
);

/** Nesting that a parser which calls itself would not survive. */
const deep = fc
  .tuple(fc.constantFrom('[', '{"a":', '{"params":'), fc.constantFrom(1000, 20_000, 150_000), single)
  .chain(([open, depth, message]) => {
    const close = open === '[' ? ']' : '}';
    const nest = `${open.repeat(Math.min(depth, Math.floor(900_000 / (open.length + 1))))}`;
    const count = nest.length / open.length;
    const whole = `${nest}1${close.repeat(count)}`;
    const text = message.body.toString();
    return fc.constantFrom<Message>(
      unnamed(nest),
      unnamed(whole),
      { ...message, body: Buffer.from(text.replace('"params":{', `"params":{"deep":${whole},`)) },
      { ...message, body: Buffer.from(text.replace('"arguments":{', `"arguments":{"query":${whole},`)) },
      { ...message, body: Buffer.from(text.replace('"_meta":{', `"_meta":{"deep":${whole},`)) },
      { ...message, body: Buffer.from(text.replace(/"id":[^,]*/, `"id":${whole}`)) },
    );
  });

/** Bodies of `POST /mcp`: sound ones, and ones with every kind of flaw. */
export const messages: fc.Arbitrary<Message> = fc.oneof(
  { weight: 600, arbitrary: single },
  { weight: 30, arbitrary: batch },
  { weight: 160, arbitrary: spoilt },
  { weight: 80, arbitrary: anything },
  { weight: 5, arbitrary: deep },
);
