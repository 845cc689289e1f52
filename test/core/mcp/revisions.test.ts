import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isSpecType,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { expect } from 'chai';
import fc from 'fast-check';
import { CURRENT, readClaim } from '../../../src/core/mcp/revisions.ts';
import { SEEDED } from '../../support/seed.ts';

const odd = fc.oneof(fc.constantFrom(null, true, 0, '', 'a', [], {}, [{}], { a: {} }), fc.jsonValue({ maxDepth: 2 }));
const usually = (sound: fc.Arbitrary<unknown>, weight = 8) => fc.oneof({ weight, arbitrary: sound }, odd);
const oddName = fc.constantFrom('__proto__', 'constructor', 'toString', 'more', 'io.example/more');

/** Some of the members, and now and then one of another name. */
function withMore(members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> {
  const more = fc.dictionary(oddName, odd, { maxKeys: 1 });
  return fc
    .tuple(fc.record(members, { requiredKeys: [] }), fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, more))
    .map(([some, others]) => Object.fromEntries([...Object.entries(some), ...Object.entries(others)]));
}

const text = usually(fc.string());
const info = usually(
  withMore({
    name: text,
    version: text,
    title: text,
    description: text,
    websiteUrl: text,
    icons: usually(fc.constant([])),
  }),
);
/** Few at once, so that one that is not sound is often the only one, and each with the details of another now and then. */
const details = fc.dictionary(
  fc.constantFrom('listChanged', 'tools', 'context', 'form', 'url', 'list', 'more'),
  usually(fc.oneof(fc.boolean(), fc.constant({})), 2),
  { maxKeys: 1 },
);
const capabilities = usually(
  fc.dictionary(
    fc.oneof(fc.constantFrom('roots', 'sampling', 'elicitation', 'experimental', 'extensions', 'tasks'), oddName),
    usually(details),
    { maxKeys: 2 },
  ),
);

describe('the envelope of a request', () => {
  it(`is valid exactly when the SDK accepts it ${SEEDED}`, () => {
    const found = { sound: 0, unsound: 0 };
    fc.assert(
      fc.property(
        capabilities,
        fc.option(info, { nil: undefined }),
        fc.option(usually(fc.constantFrom('debug', 'info')), { nil: undefined, freq: 2 }),
        (...made) => {
          const [itsCapabilities, itsInfo, level] = made.map((one) => parsed(one));
          const meta = {
            [PROTOCOL_VERSION_META_KEY]: CURRENT,
            [CLIENT_CAPABILITIES_META_KEY]: itsCapabilities,
            [CLIENT_INFO_META_KEY]: itsInfo,
            [LOG_LEVEL_META_KEY]: level,
          };
          const isSound =
            isSpecType.ClientCapabilities(itsCapabilities) &&
            (itsInfo === undefined || isSpecType.Implementation(itsInfo)) &&
            (level === undefined || isSpecType.LoggingLevel(level));
          found[isSound ? 'sound' : 'unsound'] += 1;
          const read = () => readClaim({ jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: meta } });
          if (isSound) expect(read(), JSON.stringify(meta)).to.equal(CURRENT);
          else expect(read, JSON.stringify(meta)).to.throw('Invalid parameters');
        },
      ),
      { numRuns: 3000 },
    );
    expect(found.sound).to.be.above(300);
    expect(found.unsound).to.be.above(300);
  });
});

/** As it comes from a client: what JSON gives. */
function parsed(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
