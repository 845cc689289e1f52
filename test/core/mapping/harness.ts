import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { anyText } from '../../support/any-text.ts';
import { thrownBy } from '../../support/thrown.ts';

/** The reason with which `work` throws `upstream_invalid`. Fails where it does anything else. */
export function reasonOf(work: () => unknown): string {
  const { code, reason } = thrownBy(GatewayError, work) ?? expect.fail('nothing was thrown');
  expect(code).to.equal('upstream_invalid');
  return reason ?? expect.fail('the error gives no reason');
}

/** Any number literal of JSON (RFC 8259, section 6), the nasty ones often. */
export const numberLiteral = fc.oneof(
  fc.constantFrom('0', '-0', '0.0', '-0.0', '1.10', '1e3', '1E+3', '1e-7', '0.0000001', '0.000001', '1e400', '-1e400'),
  fc.constantFrom('9007199254740991', '9007199254740993', '12345678901234567890'),
  fc.constantFrom('123456789012345', '0.1234567890123456'),
  fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.oneof(fc.constant('0'), fc.bigInt({ min: 1n, max: 10n ** 25n }).map(String)),
      fc.oneof(fc.constant(''), fc.stringMatching(/^\.[0-9]{1,20}$/)),
      fc.oneof({ weight: 3, arbitrary: fc.constant('') }, fc.stringMatching(/^[eE][+-]?[0-9]{1,3}$/)),
    )
    .map((parts) => parts.join('')),
);

/** Texts that could mislead a reader of JSON text: quotes, backslashes, digits, and names of inherited properties. */
const text = fc.oneof(
  anyText(),
  fc.stringMatching(/^["\\0-9.e:,[\]-]*$/),
  fc.constantFrom('', '1.10', '__proto__', 'constructor', 'toString', '2024-02-30', '2024-03-05T10:20:30Z', 'v1.2'),
);
const space = fc.constantFrom('', '', ' ', '\n\t');
const key = fc.oneof({ weight: 4, arbitrary: fc.constantFrom('a', 'b', 'c', 'items') }, text);

/** Text of any JSON value, with numbers as a platform may write them. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('null', 'true', 'false'),
    numberLiteral,
    text.map((value) => JSON.stringify(value)),
    fc
      .tuple(space, fc.array(tie('value'), { maxLength: 4 }))
      .map(([gap, parts]) => `[${gap}${parts.join(`,${gap}`)}${gap}]`),
    fc.tuple(space, fc.array(fc.tuple(key, tie('value')), { maxLength: 5 })).map(([gap, entries]) => {
      const members = entries.map(([name, value]) => `${JSON.stringify(name)}${gap}:${gap}${value}`);
      return `{${gap}${members.join(`${gap},`)}}`;
    }),
  ),
})).value;
