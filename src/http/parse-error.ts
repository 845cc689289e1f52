import { GatewayError } from '../kernel/errors.ts';

/** What Node reports of bytes that it cannot take as a request. */
export interface ParseError extends Error {
  readonly code?: string;
  /** The piece of input in which parsing ended; earlier pieces of the same request are gone. */
  readonly rawPacket?: Buffer;
  /** Where in that piece. */
  readonly bytesParsed?: number;
}

/** The beginning of a request whose first line has not ended. */
const REQUEST_LINE = /^[A-Z-]+ [^\s]*$/;

/** The row of the error table for what the parser refused, or waited for too long. */
export function describeParseError(error: ParseError): GatewayError {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new GatewayError('request_timeout', { cause: error });
    case 'HPE_HEADER_OVERFLOW':
      return new GatewayError(endsInTarget(error) ? 'uri_too_long' : 'headers_too_large', { cause: error });
    default:
      return new GatewayError('invalid_request', { cause: error });
  }
}

/** The parser counts target and headers together. Where an earlier piece would be needed to tell, it was the headers. */
function endsInTarget({ rawPacket, bytesParsed }: ParseError): boolean {
  const parsed = rawPacket?.toString('latin1', 0, bytesParsed) ?? '';
  return REQUEST_LINE.test(parsed.slice(parsed.lastIndexOf('\n') + 1));
}
