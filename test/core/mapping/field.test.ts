import { expect } from 'chai';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import { epochToTimestamp, toTimestamp, toVersion } from '../../../src/core/mapping/field.ts';

const RUNS = { numRuns: 2000 };

const FIRST = -62_167_219_200;
const LAST = 253_402_300_799;
/** Whole seconds of the years 0000 to 9999. */
const second = fc.integer({ min: FIRST, max: LAST });
const fraction = fc.oneof(fc.constant(''), fc.stringMatching(/^[0-9]{1,12}$/));
const offset = fc.oneof(
  fc.constantFrom('Z', '', '+00:00', '-00:00', '+23:59', '-23:59'),
  fc
    .tuple(fc.constantFrom('+', '-'), fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    .map(([sign, hour, minute]) => `${sign}${two(hour)}:${two(minute)}`),
);

function two(number: number): string {
  return String(number).padStart(2, '0');
}

/** luxon's opinion, without fraction. */
function reference(text: string): string | undefined {
  const time = DateTime.fromISO(text, { zone: 'utc' });
  return time.isValid && time.year >= 0 && time.year <= 9999 ? time.toFormat("yyyy-MM-dd'T'HH:mm:ss'Z'") : undefined;
}

describe('a timestamp', () => {
  for (const [name, format] of [
    ['extended calendar', "yyyy-MM-dd'T'HH:mm:ss"],
    ['basic calendar', "yyyyMMdd'T'HHmmss"],
  ] as const) {
    it(`in the ${name} form agrees with luxon, whatever its offset, and keeps its fraction`, () => {
      fc.assert(
        fc.property(second, fraction, offset, fc.constantFrom('.', ','), (seconds, digits, zone, point) => {
          const local = DateTime.fromSeconds(seconds, { zone: 'utc' });
          const basic = name.startsWith('basic');
          const base = `${local.toFormat(format)}${digits && point}${digits}`;
          const text = `${base}${basic ? zone.replace(':', '') : zone}`;
          const expected = reference(text.replace(/[.,]\d+/, ''))?.replace('Z', `${digits && '.'}${digits}Z`);
          expect(toTimestamp(text)).to.equal(expected);
        }),
        RUNS,
      );
    });
  }

  it('is valid exactly if luxon accepts it, for any date and time', () => {
    const number = (max: number) => fc.integer({ min: 0, max }).map(two);
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 9999 }).map((year) => String(year).padStart(4, '0')),
        fc.tuple(number(13), number(32)).map(([month, day]) => `-${month}-${day}`),
        fc.oneof(
          fc.constant(''),
          fc.tuple(number(25), number(61), number(59)).map(([hour, minute, sec]) => `T${hour}:${minute}:${sec}`),
          fc.tuple(number(25), number(61)).map(([hour, minute]) => `T${hour}:${minute}Z`),
        ),
        (year, date, time) => {
          // The end of a day, which luxon accepts.
          fc.pre(!time.startsWith('T24'));
          expect(toTimestamp(year + date + time)).to.equal(reference(year + date + time));
        },
      ),
      { numRuns: 5000 },
    );
  });

  it('is a date and time in 12 or 14 digits, as text and as a number', () => {
    for (const [digits, time] of [
      ['20260102030405', '2026-01-02T03:04:05Z'],
      ['202601020304', '2026-01-02T03:04:00Z'],
      ['19991231235959', '1999-12-31T23:59:59Z'],
      ['20260230030405', undefined],
      ['20261301030405', undefined],
      ['99999999999999', undefined],
      // No month: an epoch in milliseconds.
      ['946684800000', '2000-01-01T00:00:00Z'],
      ['1767323045123', '2026-01-02T03:04:05.123Z'],
      ['1767323045123456', '2026-01-02T03:04:05.123456Z'],
      ['1767323045123456789', '2026-01-02T03:04:05.123456789Z'],
      // Windows, .NET, and no unit.
      ['133800000000000000', undefined],
      ['639029198450000000', undefined],
      ['17673230451234567', undefined],
    ] as const) {
      expect(toTimestamp(digits), digits).to.equal(time);
      expect(epochToTimestamp(digits), digits).to.equal(time);
    }
  });

  it('from an epoch in seconds or milliseconds agrees with luxon', () => {
    fc.assert(
      fc.property(second, fc.integer({ min: 0, max: 999 }), (seconds, milliseconds) => {
        const time = DateTime.fromSeconds(seconds, { zone: 'utc' });
        const text = time.toFormat("yyyy-MM-dd'T'HH:mm:ss");
        if (Math.abs(seconds) < 1e11) expect(epochToTimestamp(String(seconds))).to.equal(`${text}Z`);
        const count = seconds * 1000 + milliseconds;
        // Such digits are a date and time, or nothing.
        fc.pre(!/^(?:\d{12}|\d{14})$/.test(String(count)));
        const digits = milliseconds === 0 ? '' : `.${String(milliseconds).padStart(3, '0')}`;
        if (Math.abs(count) >= 1e11) expect(epochToTimestamp(String(count))).to.equal(`${text}${digits}Z`);
      }),
      RUNS,
    );
  });

  for (const [from, to] of [
    [0, '1970-01-01T00:00:00Z'],
    [99_999_999_999, '5138-11-16T09:46:39Z'],
    [100_000_000_000, '1973-03-03T09:46:40Z'],
    [1_700_000_000_120, '2023-11-14T22:13:20.120Z'],
    [1_700_000_000_000.4, '2023-11-14T22:13:20Z'],
    ['1700000000.50', '2023-11-14T22:13:20.500Z'],
    ['1700000000.123456', '2023-11-14T22:13:20.123Z'],
    ['-1700000000.5', '1916-02-18T01:46:39.500Z'],
    ['1700000000000.0', '2023-11-14T22:13:20Z'],
    ['2024-05-06', '2024-05-06T00:00:00Z'],
    ['20240506', '2024-05-06T00:00:00Z'],
    ['2024-05-06 07:08:09', '2024-05-06T07:08:09Z'],
    ['2024-05-06t07:08:09z', '2024-05-06T07:08:09Z'],
    ['2024-05-06T07:08:09+02', '2024-05-06T05:08:09Z'],
    ['2024-05-06T07:08:09.1-0230', '2024-05-06T09:38:09.1Z'],
    ['2024-05-06 07:08:09 +0200', '2024-05-06T05:08:09Z'],
    ['2024-05-06 07:08:09 UTC', '2024-05-06T07:08:09Z'],
    ['Mon, 06 May 2024 07:08:09 GMT', '2024-05-06T07:08:09Z'],
    ['2024-05-06T07:08:09+02:00[Europe/Paris]', '2024-05-06T05:08:09Z'],
    ['2024-05-06T07:08:09Z[UTC]', '2024-05-06T07:08:09Z'],
    ['2024-05-06 07:08:09.5 +0000 UTC', '2024-05-06T07:08:09.5Z'],
    ['/Date(1714979289000)/', '2024-05-06T07:08:09Z'],
    ['/Date(1714979289120+0200)/', '2024-05-06T07:08:09.120Z'],
    ['/Date(-1000)/', '1969-12-31T23:59:59Z'],
  ] as const) {
    it(`${JSON.stringify(from)} becomes ${to}`, () => {
      const read = typeof from === 'number' ? epochToTimestamp(String(from)) : toTimestamp(from);
      expect(read).to.equal(to);
    });
  }

  it('is read from 64 characters at most, of whichever form', () => {
    for (const [begin, end] of [
      ['2024-05-06T07:08:09.', 'Z'],
      ['2024-05-06T07:08:09.', '+02:00'],
      ['2024-05-06 07:08:09,', ''],
      ['1700000000.', ''],
    ] as const) {
      const longest = begin + '1'.repeat(64 - begin.length - end.length) + end;
      expect(toTimestamp(longest), longest).to.be.a('string');
      expect(toTimestamp(`${begin}1${longest.slice(begin.length)}`), longest).to.equal(undefined);
    }
    expect(epochToTimestamp(`11.${'1'.repeat(61)}`)).to.be.a('string');
    expect(epochToTimestamp(`11.${'1'.repeat(62)}`)).to.equal(undefined);
  });

  for (const text of [
    ...['', 'now', '0', '12', '202405', '2024', '2024-05', '2024-127', '2024-W19-1', '2024-05-06T07', '1.5'],
    ...['20240506.5', '1700000000.', '+1700000000', '20x4-05-06T07:08:09Z', '2024-05-06T24:00:00Z'],
    ...['2024-05-06T07:08:60Z', '2024-05-06T07:08:09.Z', '2024-05-06T07:08.5Z', '2024-05-06T07:08:09+24:00'],
    ...['2024-05-06T07:08:09+02:60', '2024-05-06T07:08:09Z ', '2024-05-06T07:08:09ZZ', ' 2024-05-06', '2024T07Z'],
    ...['2024-05T07:08Z', '2024-05-06Z', '2024-05-06T', '2023-366', '2024-000', '0000-01-01T00:00:00+00:01'],
    ...['/Date(1714979289000)', '/Date()/', '/Date(9999999999999999)/', '2024-05-06T07:08:09Z[]', '2024-05-06[UTC]'],
    ...['Tue, 06 May 2024 07:08:09 GMT', 'Mon, 6 May 2024 07:08:09 GMT', '2024-05-06 GMT'],
    ...['9999-12-31T23:59:59-00:01', '12024-05-06T07:08:09Z', '-62167219201', '253402300800000', '9'.repeat(27)],
  ]) {
    it(`is not ${JSON.stringify(text)}`, () => {
      expect(toTimestamp(text)).to.equal(undefined);
    });
  }

  for (const number of ['NaN', 'Infinity', '1e21', '1e300', '1e400', '253402300800000', '-62167219201']) {
    it(`is not the number ${number}`, () => {
      expect(epochToTimestamp(number)).to.equal(undefined);
    });
  }

  it('is a UTC timestamp or nothing, for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9TWZ:.,+ -]{1,30}$/)), (text) => {
        const time = toTimestamp(text);
        if (time === undefined) return;
        expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/);
        expect(toTimestamp(time)).to.equal(time);
      }),
      RUNS,
    );
  });
});

describe('a version', () => {
  for (const [from, to] of [
    ['1.2.3', '1.2.3'],
    ['v1.2', '1.2.0'],
    ['1', '1.0.0'],
    ['V2.3.4', '2.3.4'],
    ['v1.2-rc.1+b5', '1.2.0-rc.1+b5'],
    ['3+build', '3.0.0+build'],
    [' v1.2\n', '1.2.0'],
    ['1.10', '1.10.0'],
  ] as const) {
    it(`${JSON.stringify(from)} becomes ${to}`, () => {
      expect(toVersion(from)).to.equal(to);
    });
  }

  for (const text of [
    ...['latest', '2024.01.02.3', 'v1.2.3.4', 'v', 'vv1', '1.', '1..2', '1.2.x', '1.2rc1', 'v 1.2', '1.2-a b', ''],
  ]) {
    it(`stays as it is where it is none: ${JSON.stringify(text)}`, () => {
      expect(toVersion(text)).to.equal(text);
    });
  }

  it('has three parts or is what the upstream sent, and does not change a second time', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[vV]?[0-9.]{0,8}[-+]?[a-z0-9.+-]{0,6}$/)), (text) => {
        const version = toVersion(text);
        if (version !== text.trim()) expect(version).to.match(/^\d+\.\d+\.\d+(?:[-+]\S*)?$/);
        expect(toVersion(version)).to.equal(version);
      }),
    );
  });
});
