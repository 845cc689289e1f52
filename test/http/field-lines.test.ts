import { expect } from 'chai';
import { fieldBytes, fieldValues } from '../../src/http/field-lines.ts';

const RAW = [
  'Host',
  'a',
  'AUTHORIZATION',
  'Bearer x',
  'X-Authorization',
  'Bearer y',
  'authorization',
  'Bearer z',
  'X',
  'host',
];

describe('header lines', () => {
  it('are found by name, in any case and in order, and never by value', () => {
    expect(fieldValues(RAW, 'authorization')).to.deep.equal(['Bearer x', 'Bearer z']);
    expect(fieldValues(RAW, 'host')).to.deep.equal(['a']);
    expect(fieldValues([], 'host')).to.deep.equal([]);
  });

  it('take as many bytes as they took on the wire', () => {
    expect(fieldBytes([])).to.equal(0);
    expect(fieldBytes(['Host', 'localhost', 'X', ''])).to.equal('Host: localhost\r\nX: \r\n'.length);
  });
});
