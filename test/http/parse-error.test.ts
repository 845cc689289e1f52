import { expect } from 'chai';
import { describeParseError } from '../../src/http/parse-error.ts';

function codeOf(code: string, packet?: string): string {
  const facts = packet === undefined ? {} : { rawPacket: Buffer.from(packet), bytesParsed: packet.length };
  return describeParseError(Object.assign(new Error('x'), { code, ...facts })).code;
}

describe('an overflow of the parser', () => {
  const overflow = (packet?: string) => codeOf('HPE_HEADER_OVERFLOW', packet);

  it('is the target where that has not ended', () => {
    expect(overflow('GET /aaaa')).to.equal('uri_too_long');
    expect(overflow('\r\nM-SEARCH /aaaa')).to.equal('uri_too_long');
    expect(overflow('GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /aaaa')).to.equal('uri_too_long');
  });

  it('is the headers where the target has ended, or where that cannot be told', () => {
    expect(overflow('GET / HTTP/1.1\r\nHost: aaaa')).to.equal('headers_too_large');
    expect(overflow('GET / HTTP/1.1\r\nHost: a\r\n')).to.equal('headers_too_large');
    expect(overflow('aaaa')).to.equal('headers_too_large');
    expect(overflow('aaaa\r\nCookie: aaaa')).to.equal('headers_too_large');
    expect(overflow()).to.equal('headers_too_large');
  });

  it('counts only as far as was parsed', () => {
    const packet = 'GET /aaaa HTTP/1.1\r\nHost: a\r\n';
    const error = Object.assign(new Error('x'), {
      code: 'HPE_HEADER_OVERFLOW',
      rawPacket: Buffer.from(packet),
      bytesParsed: 9,
    });
    expect(describeParseError(error).code).to.equal('uri_too_long');
  });
});

describe('another error of the parser', () => {
  it('is a request that is too slow, or not well-formed', () => {
    expect(codeOf('ERR_HTTP_REQUEST_TIMEOUT')).to.equal('request_timeout');
    expect(codeOf('HPE_INVALID_METHOD')).to.equal('invalid_request');
  });

  it('is the cause of what is logged', () => {
    const error = Object.assign(new Error('x'), { code: 'HPE_INVALID_METHOD' });
    expect(describeParseError(error).cause).to.equal(error);
  });
});
