import { gzipSync } from 'node:zlib';
import type { ErrorCode } from '../../../src/core/kernel/error-table.ts';
import { drips, item, message, once, page, responds, says, sends } from '../../support/platform/faults.ts';
import type { Fault, RawRequest } from '../../support/platform/raw-upstream.ts';

/** Limits that the faults are made for: far below the defaults, so that the faults are small. */
export const LIMITS = { maxPageBytes: 4096, maxPages: 5 };

type Wait = '' | ' after timeoutMs' | `, Retry-After ${number}`;

/** What comes of a fault for those who read, and for the platform. */
export type Outcome = readonly [
  /** What a caller is given for whom nothing is held: at once, unless it says so. */
  answer: '200' | `${number} ${ErrorCode}${Wait}`,
  /** Requests, and attempts to connect, that one read costs. */
  asked: number,
  /** What one read adds to the window of the breaker. */
  breaker: string,
  /** Whether the next request goes over the same connection. */
  connection: 'kept' | 'closed',
  /** What a caller is given for whom a stale list is held: that one, the answer as above, or the new list. */
  stale: 'served' | 'not served' | 'replaced',
];

/** One way in which a platform may fail, or be odd. `what` ends the sentence "The platform …". */
export type FaultRow = readonly [what: string, fault: Fault | 'refuses', outcome: Outcome];

/* What comes of several faults. */
const SERVED: Outcome = ['200', 1, 'success', 'kept', 'replaced'];
/** The platform is asked again, over a new connection each time. */
const BROKEN: Outcome = ['502 upstream_failed', 3, 'failure', 'closed', 'served'];
/** The platform is asked again, over the same connection. */
const RETRIED: Outcome = ['502 upstream_failed', 3, 'failure', 'kept', 'served'];
const LATE: Outcome = ['504 upstream_timeout after timeoutMs', 1, 'failure', 'closed', 'served'];
/** An answer that is no list, and no failure. */
const FAILED: Outcome = ['502 upstream_failed', 1, 'success', 'kept', 'not served'];
const REFUSED: Outcome = ['502 upstream_refused', 1, 'success', 'kept', 'not served'];
const INVALID: Outcome = ['502 upstream_invalid', 1, 'success', 'kept', 'not served'];
/** The rest of the body is not read. */
const CUT: Outcome = ['502 upstream_invalid', 1, 'success', 'closed', 'not served'];
/** A page that was read, of a list that cannot be right. */
const UNFIT: Outcome = ['502 upstream_invalid', 1, 'success', 'kept', 'not served'];
const REPEATED: Outcome = ['502 upstream_invalid', 2, '2 successes', 'kept', 'not served'];
const limited = (seconds: number): Outcome => [
  `429 upstream_rate_limited, Retry-After ${seconds}`,
  ...([1, 'success', 'kept', 'served'] as const),
];

/** Up to the middle of a body. */
const HALF = 'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"pro';
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

/** A 200 with this body. */
const body = (bytes: string | Buffer, ...fields: readonly string[]) => sends(message('200 OK', bytes, ...fields));

/** A page that is coded so, and what is done with its bytes before they are sent. */
const gzipped = (text: string, change = (bytes: Buffer) => bytes) =>
  body(change(gzipSync(text)), 'Content-Encoding: gzip');

/** Pages, made of what they are asked for and of the number that leads to the next one. */
const pages = (text: (request: RawRequest, next: string) => string) =>
  sends((request) => message('200 OK', text(request, String(Number(request.pageToken) + 1))));

/** Pages without end, each with another item. */
const numbered = pages((request, next) => page(request, [item(next)], next));

/** The page, after an answer that is not yet the last one. */
const informed = (status: string) =>
  sends((request) => Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n\r\n`), message('200 OK', page(request))]));

/** Every fault and what comes of it, in the order of the docs. */
export const FAULTS: Readonly<Record<string, readonly FaultRow[]>> = {
  'No response': [
    ['refuses the connection', 'refuses', BROKEN],
    ['closes the connection', sends('', 'end'), BROKEN],
    ['resets the connection', sends('', 'reset'), BROKEN],
    ['resets it once, then answers', once(sends('', 'reset'), responds), ['200', 2, 'success', 'kept', 'replaced']],
    ['sends nothing', sends(''), LATE],
    ['stalls within its headers', sends('HTTP/1.1 200 OK\r\nContent-'), LATE],
    [
      'does not speak HTTP',
      sends('SSH-2.0-OpenSSH_9.6\r\n'),
      ['502 upstream_failed', 1, 'failure', 'closed', 'served'],
    ],
  ],
  'Incomplete response': [
    ['stalls within its body', sends(HALF), LATE],
    ['sends its body byte by byte, for longer than `timeoutMs`', drips(`${CHUNKED}1\r\n[\r\n`, '1\r\n \r\n', 20), LATE],
    ['resets the connection within its body', sends(HALF, 'reset'), BROKEN],
    ['closes it before `Content-Length` bytes have arrived', sends(HALF, 'end'), BROKEN],
    ['closes it before the last chunk', sends(`${CHUNKED}5\r\n{"pro\r\n`, 'end'), BROKEN],
    ['closes it within a body without length or chunks', sends('HTTP/1.1 200 OK\r\n\r\n{"pro', 'end'), CUT],
  ],
  'Not a usable list': [
    ['announces a body larger than `maxPageBytes`', body('x'.repeat(100_000)), CUT],
    ['sends such a body without announcing it', drips(CHUNKED, `400\r\n${'x'.repeat(0x400)}\r\n`, 1), CUT],
    ['sends gzip that inflates to more than that', gzipped('x'.repeat(1_000_000)), INVALID],
    ['sends gzip that is broken', gzipped('[]', (bytes) => bytes.fill(0, 12)), INVALID],
    ['sends gzip that is cut short', gzipped('[]', (bytes) => bytes.subarray(0, -4)), INVALID],
    ['sends no JSON', body('{projects: []}'), INVALID],
    ['sends JSON that is cut short', pages((request) => page(request).slice(0, -9)), INVALID],
    [
      'sends a web page with status 200, such as a login page',
      body('<!doctype html><title>Log in</title>', 'Content-Type: text/html'),
      INVALID,
    ],
    ['sends JSON without a list at `items`', body('{"status":"maintenance"}'), INVALID],
    [
      'sends JSON with `errors`, as GraphQL does',
      pages((request) => page(request).replace('{', '{"errors":[{"message":"words of the platform"}],')),
      INVALID,
    ],
    ['sends an item that cannot be mapped', pages((request) => page(request, [{ name: 'no id' }])), UNFIT],
  ],
  'Status codes': [
    ['answers 206', says('206 Part', 'Content-Range: bytes 0-9/99'), INVALID],
    [
      'answers 301, to another origin (never followed)',
      sends((request) => message('301 Moved', '', `Location: ${request.elsewhere}/v1/${request.resource}`)),
      FAILED,
    ],
    ['answers 304, to a request without `If-None-Match`', sends('HTTP/1.1 304 Same\r\n\r\n'), FAILED],
    ['answers 400', says('400 No'), REFUSED],
    ['answers 401', says('401 No'), ['401 credential_rejected', 1, 'success', 'kept', 'not served']],
    ['answers 403', says('403 No'), ['403 access_denied', 1, 'success', 'kept', 'not served']],
    ['answers 403 with `Retry-After: 7`', says('403 No', 'Retry-After: 7'), limited(7)],
    ['answers 404', says('404 No'), REFUSED],
    ['answers 406', says('406 No'), REFUSED],
    ['answers 408', says('408 No'), ['502 upstream_failed', 1, 'success', 'kept', 'served']],
    ['answers 410', says('410 No'), REFUSED],
    ['answers 418', says('418 No'), REFUSED],
    ['answers 419', says('419 No'), REFUSED],
    ['answers 429', says('429 No'), limited(1)],
    ['answers 429 with `Retry-After: 7`', says('429 No', 'Retry-After: 7'), limited(7)],
    ['answers 429 with `RateLimit-Reset: 7`', says('429 No', 'RateLimit-Reset: 7'), limited(7)],
    [
      'answers 429 with a date, years from now, as `Retry-After`',
      says('429 No', 'Retry-After: Thu, 31 Dec 2099 23:59:59 GMT'),
      limited(3600),
    ],
    ['answers 451', says('451 No'), REFUSED],
    ['answers 500', says('500 No'), ['502 upstream_failed', 1, 'failure', 'kept', 'served']],
    ['answers 502', says('502 No'), RETRIED],
    ['answers 503', says('503 No'), RETRIED],
    [
      'answers 503 with `Retry-After: 7`',
      says('503 No', 'Retry-After: 7'),
      ['502 upstream_failed, Retry-After 7', 1, 'failure', 'kept', 'served'],
    ],
    ['answers 504', says('504 No'), RETRIED],
  ],
  'Inconsistent pages': [
    [
      'links back to an earlier page',
      pages((request) => page(request, [item(`after ${request.pageToken}`)], 'again')),
      REPEATED,
    ],
    ['repeats an item of an earlier page', pages((request, next) => page(request, [item('one')], next)), REPEATED],
    ['reports a total above the items it sends', pages((request) => page(request).replace('{', '{"total":2,')), UNFIT],
    ['sends `Link: rel=next`, which settings do not follow', says('200 OK', 'Link: </v1/more>; rel="next"'), UNFIT],
    [
      'sends more pages than the bound `maxPages` (here 5)',
      numbered,
      ['502 upstream_invalid', 5, '5 successes', 'kept', 'not served'],
    ],
    [
      'answers 500 to the third page',
      (socket, request) => (request.pageToken === '2' ? says('500 No') : numbered)(socket, request),
      ['502 upstream_failed', 3, '2 successes, 1 failure', 'kept', 'served'],
    ],
  ],
  'Unusual HTTP': [
    [
      'sends two values of `Content-Length`',
      sends((request) => message('200 OK', page(request), 'Content-Length: 9')),
      BROKEN,
    ],
    [
      'sends `Content-Length` twice, with one value',
      sends((request) => message('200 OK', page(request), `Content-Length: ${page(request).length}`)),
      BROKEN,
    ],
    [
      'sends two values of `Content-Type`',
      says('200 OK', 'Content-Type: text/html', 'Content-Type: application/json'),
      SERVED,
    ],
    ['labels its JSON as a web page', says('200 OK', 'Content-Type: text/html'), SERVED],
    ['sends 103 before the response', informed('103 Hints'), SERVED],
    ['sends an unsolicited 100 before the response', informed('100 Continue'), BROKEN],
    [
      'answers in HTTP/1.0',
      sends((request) => `HTTP/1.0 200 OK\r\n\r\n${page(request)}`, 'end'),
      ['200', 1, 'success', 'closed', 'replaced'],
    ],
  ],
};
