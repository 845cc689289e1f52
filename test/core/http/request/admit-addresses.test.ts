import { expect } from 'chai';
import fc from 'fast-check';
import { createClientAddress, networkOf } from '../../../../src/core/http/request/client-address.ts';
import { SEED, SEEDED } from '../../../support/seed.ts';

const TRUSTED = ['10.0.0.0/8', '192.0.2.7', 'fd00::/8', '::1'];

/** The address of the client of a request from `peer` with these header lines. */
function clientOf(peer: string, lines: readonly Line[], trusted = TRUSTED) {
  const headers: Record<string, string> = {};
  for (const [name, value] of lines) {
    const lower = name.toLowerCase();
    headers[lower] = lower in headers ? `${headers[lower]}, ${value}` : value;
  }
  return networkOf(createClientAddress(trusted)({ socket: { remoteAddress: peer }, headers } as never));
}

type Line = readonly [name: string, value: string];
const list = (value: string): Line => ['X-Forwarded-For', value];

const LEAVES = '198.51.100.1';

/** What it is, the peer where that is not a trusted proxy at 10.1.2.3, the address, and the header lines. */
const CASES: readonly (readonly [what: string, address: string, lines: readonly Line[], peer?: string])[] = [
  ['the peer, where no proxy is trusted', '203.0.113.9', [list(LEAVES)], '203.0.113.9'],
  ['the peer, where a proxy adds nothing', '10.1.2.3', []],
  ['that which a trusted proxy adds', LEAVES, [list(LEAVES)]],
  ['the rightmost that is not trusted', LEAVES, [list(`192.0.2.99, 10.9.9.9, ${LEAVES}, 10.4.4.4`)]],
  ['that of the last of several lines', LEAVES, [list('192.0.2.99'), list(LEAVES)]],
  ['the first proxy, where all are trusted', '10.5.5.5', [list('10.5.5.5, 10.4.4.4')]],
  ['without its port', LEAVES, [list(`${LEAVES}:4711`)]],
  ['the /64 of IPv6', '2001:db8:1:2::/64', [], '2001:db8:1:2:3:4:5:6'],
  ['the same /64 for all of it', '2001:db8:1:2::/64', [], '2001:db8:1:2::9'],
  ['the /64 of what begins with zeros', '0:0:0:0::/64', [], '::2'],
  ['the /64 of one in brackets', '2001:db8:0:0::/64', [list('[2001:db8::1]:4711')], 'fd00::1'],
  ['the /64 of what a loopback proxy says', '2001:db8:0:0::/64', [list('2001:db8::1')], '::1'],
  ['IPv4 out of its form in IPv6', LEAVES, [list(`::ffff:${LEAVES}`)], '::ffff:10.1.2.3'],
  ['IPv4 out of its form in hexadecimal', LEAVES, [list('::FFFF:c633:6401')]],
  ['without the zone of a link', 'fe80:0:0:0::/64', [], 'fe80::1%eth0'],
  ['the proxy, where the next is not well-formed', '10.1.2.3', [list('192.0.2.99, nonsense')]],
  ['the proxy, where the header is empty', '10.1.2.3', [list('')]],
  ['unix over a Unix socket', 'unix', [list(LEAVES)], ''],
];

describe('the address of a client', () => {
  for (const [what, address, lines, peer = '10.1.2.3'] of CASES) {
    it(`is ${what}`, () => {
      expect(clientOf(peer, lines)).to.equal(address);
    });
  }

  it('is whole for the audit', () => {
    const request = { socket: { remoteAddress: '10.1.2.3' }, headers: { 'x-forwarded-for': '2001:db8::1:2' } };
    expect(createClientAddress(TRUSTED)(request as never)).to.equal('2001:db8::1:2');
  });

  it('is that which a proxy adds over a trusted Unix socket', () => {
    expect(clientOf('', [list(LEAVES)], ['unix'])).to.equal(LEAVES);
  });

  const ours = fc.tuple(fc.nat(255), fc.nat(255)).map(([a, b]) => `10.0.${a}.${b}`);
  const others = fc.tuple(fc.integer({ min: 11, max: 126 }), fc.nat(255)).map(([a, b]) => `${a}.7.7.${b}`);
  const invention = fc.oneof(ours, others, fc.constantFrom('unknown', '_x', '', '::1', '2001:db8::1', '"', 'a"b'));

  it(`is the one that connected to the first trusted proxy, whatever the client sent ${SEEDED}`, () => {
    fc.assert(
      fc.property(
        fc.array(invention, { maxLength: 5 }),
        others,
        fc.array(ours, { minLength: 1, maxLength: 3 }),
        (inventions, client, [first, ...proxies]) => {
          expect(clientOf(first ?? '', [list([...inventions, client, ...proxies].join(', '))])).to.equal(client);
        },
      ),
      { seed: SEED, numRuns: 500 },
    );
  });

  it('follows 32 proxies at most', () => {
    const many = Array.from({ length: 1200 }, (_, index) => `10.7.${index % 250}.9`);
    expect(clientOf('10.0.0.1', [list(`${many.join(', ')}, ${LEAVES}`)])).to.equal(LEAVES);
    expect(clientOf('10.0.0.1', [list(many.join(', '))])).to.equal(many.at(-32));
  });
});
