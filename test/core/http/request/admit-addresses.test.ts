import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { createClientAddress } from '../../../../src/core/http/request/admit.ts';
import { readFields } from '../../../../src/core/http/request/request-head.ts';
import { SEED, SEEDED } from '../../../support/seed.ts';

const TRUSTED = ['10.0.0.0/8', '192.0.2.7', 'fd00::/8', '::1'];

/** The address of the client of a request from `peer` with these header lines. */
function clientOf(peer: string | undefined, lines: readonly (readonly [string, string])[] = [], trusted = TRUSTED) {
  return createClientAddress(trusted)({
    connection: { remoteAddress: peer ?? '' } as never,
    fields: readFields(lines.flat()),
  });
}

const list = (value: string) => ['X-Forwarded-For', value] as const;
const forwarded = (value: string) => ['Forwarded', value] as const;

describe('the address of a client', () => {
  const cases: Readonly<Record<string, readonly [string | undefined, readonly (readonly [string, string])[], string]>> =
    {
      'the peer, where no proxy is trusted': ['203.0.113.9', [list('198.51.100.1')], '203.0.113.9'],
      'the peer, where a proxy adds nothing': ['10.1.2.3', [], '10.1.2.3'],
      'that which a trusted proxy adds': ['10.1.2.3', [list('198.51.100.1')], '198.51.100.1'],
      'that which a trusted proxy adds in Forwarded': [
        '10.1.2.3',
        [forwarded('for=198.51.100.1;proto=https')],
        '198.51.100.1',
      ],
      'the rightmost that is not trusted': [
        '10.1.2.3',
        [list('192.0.2.99, 10.9.9.9, 198.51.100.1, 10.4.4.4')],
        '198.51.100.1',
      ],
      'the rightmost that is not trusted in Forwarded': [
        '10.1.2.3',
        [forwarded('for=192.0.2.99, for=198.51.100.1, for=10.4.4.4')],
        '198.51.100.1',
      ],
      'that of the last of several lines': ['10.1.2.3', [list('192.0.2.99'), list('198.51.100.1')], '198.51.100.1'],
      'the first proxy, where all are trusted': ['10.1.2.3', [list('10.5.5.5, 10.4.4.4')], '10.5.5.5'],
      'without its port': ['10.1.2.3', [list('198.51.100.1:4711')], '198.51.100.1'],
      'the /64 of IPv6': ['2001:db8:1:2:3:4:5:6', [], '2001:db8:1:2::/64'],
      'the same /64 for all of it': ['2001:db8:1:2::9', [], '2001:db8:1:2::/64'],
      'the /64 of what begins with zeros': ['::2', [], '0:0:0:0::/64'],
      'the /64 of what a loopback proxy says': ['::1', [list('2001:db8::1')], '2001:db8:0:0::/64'],
      'the /64 of an address in brackets': ['fd00::1', [forwarded('For="[2001:db8::1]:4711"')], '2001:db8:0:0::/64'],
      'IPv4 out of its form in IPv6': ['::ffff:10.1.2.3', [list('::ffff:198.51.100.1')], '198.51.100.1'],
      'IPv4 out of its form in hexadecimal': ['10.1.2.3', [list('::FFFF:c633:6401')], '198.51.100.1'],
      'without the zone of a link': ['fe80::1%eth0', [], 'fe80:0:0:0::/64'],
      'the proxy that hides it': ['10.1.2.3', [forwarded('for=192.0.2.99, for=_hidden')], '10.1.2.3'],
      'the proxy that does not know it': ['10.1.2.3', [forwarded('for=unknown, for=10.4.4.4')], '10.4.4.4'],
      'the proxy, where the next is not well-formed': ['10.1.2.3', [list('192.0.2.99, nonsense')], '10.1.2.3'],
      'the proxy, where an element has no for': ['10.1.2.3', [forwarded('for=192.0.2.99, proto=https')], '10.1.2.3'],
      'the proxy, where the header is empty': ['10.1.2.3', [list('')], '10.1.2.3'],
      'right of a comma in quotes': [
        '10.1.2.3',
        [forwarded('for="_a,for=192.0.2.99", for=198.51.100.1')],
        '198.51.100.1',
      ],
      'both headers, where they agree': [
        '10.1.2.3',
        [list('198.51.100.1'), forwarded('for=198.51.100.1')],
        '198.51.100.1',
      ],
      'the proxy, where the two headers disagree': [
        '10.1.2.3',
        [list('198.51.100.1'), forwarded('for=192.0.2.99')],
        '10.1.2.3',
      ],
      'unix over a Unix socket': [undefined, [list('198.51.100.1')], 'unix'],
    };

  for (const [name, [peer, lines, address]] of Object.entries(cases)) {
    it(`is ${name}`, () => {
      expect(clientOf(peer, lines)).to.equal(address);
    });
  }

  it('is that which a proxy adds over a trusted Unix socket', () => {
    expect(clientOf(undefined, [list('198.51.100.1')], ['unix'])).to.equal('198.51.100.1');
  });

  const ours = fc.tuple(fc.nat(255), fc.nat(255)).map(([a, b]) => `10.0.${a}.${b}`);
  const others = fc.tuple(fc.integer({ min: 11, max: 126 }), fc.nat(255)).map(([a, b]) => `${a}.7.7.${b}`);
  const invention = fc.oneof(ours, others, fc.constantFrom('unknown', '_x', '', '::1', '2001:db8::1', '"', 'a"b'));

  it(`is the one that connected to the first trusted proxy, whatever the client sent ${SEEDED}`, () => {
    const lineOf: Readonly<Record<string, (hops: readonly string[]) => readonly [string, string]>> = {
      list: (hops) => list(hops.join(', ')),
      forwarded: (hops) => forwarded(hops.map((hop) => `for="${hop.replaceAll('"', '')}"`).join(', ')),
    };
    fc.assert(
      fc.property(
        fc.array(invention, { maxLength: 5 }),
        others,
        fc.array(ours, { minLength: 1, maxLength: 3 }),
        fc.constantFrom('list', 'forwarded'),
        (inventions, client, proxies, header) => {
          const hops = [...inventions, client, ...proxies.slice(1)];
          expect(clientOf(proxies[0], [lineOf[header]?.(hops) ?? list('')])).to.equal(client);
        },
      ),
      { seed: SEED, numRuns: 500 },
    );
  });

  const added = fc.oneof(
    others.map((client) => ({ client, element: `for=${client}` })),
    others.map((client) => ({ client, element: `for="${client}:4711";proto=https` })),
  );
  const pieces = fc.constantFrom('for=', '192.0.2.99', '"', '\\', ';', ',', ' ', 'x=', '_a', '[', ']', ':', '\t');
  const raw = fc.oneof(
    fc.array(pieces, { maxLength: 12 }).map((all) => all.join('')),
    fc.constantFrom('for=192.0.2.99;x="', 'for=192.0.2.99, x="', 'for=192.0.2.99;x="\\'),
  );

  it(`is never one that a client wrote into Forwarded ${SEEDED}`, () => {
    fc.assert(
      fc.property(raw, added, (text, { client, element }) => {
        // What the proxy added may be lost in a quote that the client opened: then it is the proxy.
        const found = clientOf('10.0.0.1', [forwarded(text), forwarded(element)]);
        expect(found).to.be.oneOf([client, '10.0.0.1']);
      }),
      { seed: SEED, numRuns: 2000 },
    );
  });

  /** How often an address was parsed while `work` was done. */
  function parsedBy(work: () => void): number {
    const { isIP } = net;
    let calls = 0;
    net.isIP = (text) => {
      calls += 1;
      return isIP(text);
    };
    syncBuiltinESMExports();
    try {
      work();
      return calls;
    } finally {
      net.isIP = isIP;
      syncBuiltinESMExports();
    }
  }

  it('takes as little work behind a header as long as a head may be', () => {
    const many = Array.from({ length: 1200 }, (_, index) => `10.7.${index % 250}.9`);
    for (const [line, address] of [
      [list(`${many.join(', ')}, 198.51.100.1`), '198.51.100.1'],
      [forwarded(`${many.map((hop) => `for=${hop}`).join(',')},for=198.51.100.1`), '198.51.100.1'],
      // Of proxies that are all trusted, 32 are followed.
      [list(many.join(', ')), many.at(-32)],
      [forwarded(many.map((hop) => `for=${hop}`).join(',')), many.at(-32)],
      // What no proxy writes leads nowhere.
      [list(`${'1'.repeat(15_000)}, 10.4.4.4`), '10.4.4.4'],
      [forwarded(`for=198.51.100.1;x=${'1'.repeat(15_000)}, for=10.4.4.4`), '10.4.4.4'],
      [forwarded(`for=198.51.100.1;x="${','.repeat(15_000)}", for=10.4.4.4`), '10.4.4.4'],
    ] as const) {
      expect(parsedBy(() => expect(clientOf('10.0.0.1', [line])).to.equal(address))).to.be.at.most(33);
    }
  });

  it('is right of a quote that a client left open, and never inside of quotes', () => {
    const open = [forwarded('for="192.0.2.99'), forwarded('for=198.51.100.1')];
    expect(clientOf('10.0.0.1', open)).to.equal('198.51.100.1');
    for (const host of [
      'a, for=192.0.2.98',
      'a, for=192.0.2.98;x=',
      'a, for=192.0.2.98;x=\\"',
      'a, for=\\"192.0.2.98\\"',
    ])
      expect(clientOf('10.0.0.1', [forwarded(`for=198.51.100.1;host="${host}"`)]), host).to.equal('10.0.0.1');
  });
});
