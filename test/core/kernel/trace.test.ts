import { expect } from 'chai';
import fc from 'fast-check';
import { continueTrace } from '../../../src/core/kernel/trace.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';
const VALID = `00-${TRACE_ID}-${PARENT_ID}-01`;

describe('a trace', () => {
  it('continues with the same id and flags, and a new parent id', () => {
    const trace = continueTrace(VALID, undefined);
    expect(trace?.traceId).to.equal(TRACE_ID);
    expect(trace).to.include({ parentId: PARENT_ID, isSampled: true });
    expect(continueTrace(VALID.replace(/1$/, '2'), undefined)?.isSampled).to.equal(false);
    expect(trace?.headers).to.have.all.keys('traceparent');
    expect(trace?.headers.traceparent).to.match(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-01$`));
    expect(trace?.headers.traceparent).not.to.contain(PARENT_ID);
    expect(continueTrace(VALID, undefined)?.headers).not.to.deep.equal(trace?.headers);
  });

  for (const [flags, kept] of Object.entries({ '00': '00', '01': '01', '03': '03', ff: '03', fc: '00' })) {
    it(`keeps defined flags only: ${kept} of ${flags}`, () => {
      const trace = continueTrace(`00-${TRACE_ID}-${PARENT_ID}-${flags}`, undefined);
      expect(trace?.headers.traceparent).to.match(new RegExp(`-${kept}$`));
    });
  }

  it('of a later version is parsed like version 00', () => {
    for (const traceparent of [`01-${TRACE_ID}-${PARENT_ID}-01`, `cc-${TRACE_ID}-${PARENT_ID}-01-what-comes`]) {
      expect(continueTrace(traceparent, undefined)?.headers.traceparent).to.match(new RegExp(`^00-${TRACE_ID}-`));
    }
  });

  const invalid = {
    'version ff': `ff-${TRACE_ID}-${PARENT_ID}-01`,
    'more than version 00 has': `${VALID}-01`,
    'a later version that goes on without a dash': `01-${TRACE_ID}-${PARENT_ID}-01.x`,
    'a trace id of zeros': `00-${'0'.repeat(32)}-${PARENT_ID}-01`,
    'a parent id of zeros': `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
    'capital letters': VALID.toUpperCase(),
    'a short trace id': `00-${TRACE_ID.slice(1)}-${PARENT_ID}-01`,
    'no flags': `00-${TRACE_ID}-${PARENT_ID}`,
    'two of them': `${VALID}, ${VALID}`,
    nothing: '',
    'no header': undefined,
  };
  for (const [name, traceparent] of Object.entries(invalid)) {
    it(`is not begun by ${name}`, () => {
      expect(continueTrace(traceparent, 'vendor=1')).to.equal(undefined);
    });
  }

  it('forwards tracestate of up to 512 characters', () => {
    for (const state of ['vendor=1', 'a=1, b=2', 'x'.repeat(512)]) {
      expect(continueTrace(VALID, state)?.headers.tracestate).to.equal(state);
    }
    for (const state of ['', 'x'.repeat(513), 'a=\xe9', 'a=\x01']) {
      expect(continueTrace(VALID, state)?.headers).not.to.have.property('tracestate');
    }
  });

  it('is forwarded as valid headers, whatever it was made of', () => {
    const hex = (length: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
    fc.assert(
      fc.property(hex(2), hex(32), hex(16), hex(2), (version, traceId, parentId, flags) => {
        const trace = continueTrace(`${version}-${traceId}-${parentId}-${flags}`, undefined);
        return trace === undefined || continueTrace(trace.headers.traceparent, undefined)?.traceId === traceId;
      }),
    );
  });
});
