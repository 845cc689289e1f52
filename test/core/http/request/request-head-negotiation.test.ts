import { expect } from 'chai';
import fc from 'fast-check';
import {
  acceptedCodings,
  chooseCoding,
  prefersHtml,
  readFields,
  requireJsonAccepted,
} from '../../../../src/core/http/request/request-head.ts';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { SEED, SEEDED } from '../../../support/seed.ts';

const LARGE = 5000;
const SMALL = 500;

function refuses(headers: Readonly<Record<string, string>>): boolean {
  const fields = readFields(Object.entries(headers).flat());
  try {
    requireJsonAccepted(fields);
    acceptedCodings(fields);
    return false;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'not_acceptable') return true;
    throw error;
  }
}

function coding(acceptEncoding: string | undefined, bytes: number): string {
  const fields = readFields(acceptEncoding === undefined ? [] : ['Accept-Encoding', acceptEncoding]);
  return chooseCoding(acceptedCodings(fields), bytes, 1024) ?? 'identity';
}

describe('Accept', () => {
  for (const accept of [
    undefined,
    '*/*',
    'application/json',
    'APPLICATION/JSON',
    'application/*',
    'text/html, */*;q=0.1',
    'application/json;q=0.001',
    'application/json;charset=utf-8',
    'application/json; charset="UTF-8"',
    'text/html;q=0, application/json',
  ]) {
    it(`accepts JSON when it is ${accept}`, () => {
      expect(refuses(accept === undefined ? {} : { accept })).to.equal(false);
    });
  }

  for (const accept of [
    'text/html',
    'application/xml, text/*',
    'application/json;q=0',
    'application/json;q=0, */*',
    'application/*;q=0, */*',
    '*/*;q=0',
    'application/json;charset=latin1',
    'application/problem+json',
    '',
    'json',
  ]) {
    it(`refuses JSON when it is ${JSON.stringify(accept)}`, () => {
      expect(refuses({ accept })).to.equal(true);
    });
  }
});

describe('a field of 1,025 characters', () => {
  const codeOf = (work: () => unknown) => {
    try {
      work();
      return 'taken';
    } catch (error) {
      return error instanceof GatewayError ? error.code : error;
    }
  };

  it('is rejected before it is parsed, unlike one of 1,024', () => {
    const padded = (text: string, length: number) => `${text},${' '.repeat(length - text.length - 1)}`;
    for (const [length, expected] of [
      [1024, 'taken'],
      [1025, 'headers_too_large'],
    ] as const) {
      const accept = readFields(['Accept', padded('application/json;q=0.5', length)]);
      const html = readFields(['Accept', padded('text/html', length)]);
      const encoding = readFields(['Accept-Encoding', padded('gzip', length)]);
      for (const work of [
        () => requireJsonAccepted(accept),
        () => prefersHtml(html),
        () => acceptedCodings(encoding),
      ]) {
        expect(codeOf(work)).to.equal(expected);
      }
    }
  });
});

describe('Accept-Encoding', () => {
  const large = {
    'gzip, deflate, br, zstd': 'zstd',
    'gzip, zstd': 'zstd',
    gzip: 'gzip',
    GZIP: 'gzip',
    'zstd;q=0.5, gzip': 'gzip',
    'gzip;q=0.5, zstd;q=0.5': 'zstd',
    '*': 'zstd',
    'zstd;q=0, *': 'gzip',
    'br, deflate': 'identity',
    'gzip;q=0.5, identity': 'identity',
    'gzip;q=0, zstd;q=0': 'identity',
    'gzip, *;q=0': 'gzip',
    identity: 'identity',
    '': 'identity',
  };
  for (const [value, expected] of Object.entries(large)) {
    it(`${JSON.stringify(value)} makes a large body ${expected}`, () => {
      expect(coding(value, LARGE)).to.equal(expected);
    });
  }

  it('that is absent leaves a body uncompressed', () => {
    expect(coding(undefined, LARGE)).to.equal('identity');
  });

  it('leaves a small body uncompressed, unless it forbids identity', () => {
    expect(coding('zstd, gzip', SMALL)).to.equal('identity');
    expect(coding('gzip;q=1, identity;q=0.1', SMALL)).to.equal('identity');
    expect(coding('gzip, identity;q=0', SMALL)).to.equal('gzip');
    expect(coding('zstd, gzip, *;q=0', SMALL)).to.equal('zstd');
  });

  it('is read correctly after many other values', () => {
    const values = Array.from({ length: 300 }, (_, index) => {
      const expected = ['gzip', 'zstd', 'identity'][index % 3] ?? '';
      return { expected, value: `${expected};q=0.${index + 500}, *;q=0` };
    });
    for (const { expected, value } of [...values, ...values.toReversed()]) {
      expect(coding(value, LARGE), value).to.equal(expected);
    }
  });

  it('that forbids every coding is rejected', () => {
    for (const value of ['identity;q=0', '*;q=0', 'br, identity;q=0', 'br, *;q=0']) {
      expect(refuses({ 'accept-encoding': value })).to.equal(true);
    }
  });
});

describe('negotiation', () => {
  it(`returns a coding or not_acceptable for any header ${SEEDED}`, () => {
    const part = fc.constantFrom(
      ...['gzip', 'zstd', 'identity', '*', '*/*', 'application/json'],
      ...[';', 'q=', '0', '.5', ',', '"', '\\', '=', ' ', 'é'],
    );
    const header = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(header, header, (accept, acceptEncoding) => {
        refuses({ accept, 'accept-encoding': acceptEncoding });
      }),
      { seed: SEED },
    );
  });

  it('takes linear time for any header', () => {
    for (const part of [';', ',', '"', 'a/b,', 'a/b;q=1;', ' ']) {
      const value = part.repeat(1000 / part.length);
      expect(refuses({ accept: value })).to.equal(true);
      expect(refuses({ 'accept-encoding': value })).to.equal(false);
    }
  });
});
