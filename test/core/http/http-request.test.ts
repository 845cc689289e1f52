import { expect } from 'chai';
import fc from 'fast-check';
import { HttpRequest } from '../../../src/core/http/http-request.ts';
import { hasBody } from '../../../src/core/http/request/request-head.ts';
import { anyText } from '../../support/any-text.ts';
import { exchange, get } from '../../support/raw-http.ts';
import { SEED, SEEDED } from '../../support/seed.ts';
import { READ, serve } from './served.ts';

const GENERATED = /^[0-9a-f]{16}-[0-9a-z]+$/;
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

const SERVICE = { credentialHeaders: new Set<string>(), ending: new AbortController().signal, sendTimeoutMs: 1 };

/** Joins repeated lines as Node does. */
function open(rawHeaders: string[], url = ''): HttpRequest {
  const headers: Record<string, string> = Object.create(null);
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    const lower = name.toLowerCase();
    headers[lower] = headers[lower] === undefined ? value : `${headers[lower]}, ${value}`;
  }
  const req = { method: 'GET', url, rawHeaders, headers };
  return new HttpRequest({ req: req as never, res: {} as never }, SERVICE);
}

const idFor = (...values: string[]) =>
  open([...values.flatMap((value) => ['X-Request-Id', value]), 'Authorization', 'Bearer token']).record.requestId;

describe('a new request', () => {
  it(`never throws, and gives an id that needs no escaping anywhere ${SEEDED}`, () => {
    const name = fc.oneof(
      fc.constantFrom('Authorization', 'HOST', 'x-request-id', 'traceparent', 'tracestate', 'Cache-Control'),
      fc.constantFrom('Content-Length', 'Transfer-Encoding', '__proto__', 'constructor', 'toString', ''),
      anyText(),
    );
    const value = fc.oneof(
      anyText(),
      fc.constantFrom('Bearer', 'Bearer (', 'no-cache', `00-${TRACE_ID}-00f067aa0ba902b7-01`, '-1', 'NaN', '['),
    );
    const rawHeaders = fc.array(fc.tuple(name, value), { maxLength: 20 }).map((pairs) => pairs.flat());
    const url = fc.oneof(
      anyText(),
      fc.constantFrom('', '*', '/', 'http://', 'http://[', 'http://a:b', '//', '?', '%', undefined),
    );
    fc.assert(
      fc.property(rawHeaders, url, (raw, target) => {
        const { req, record, noCache, credentials } = open(raw, target);
        const { requestId } = record;
        expect(requestId).to.match(/^[\x21-\x7e]{1,128}$/);
        expect(JSON.stringify(requestId)).to.equal(`"${requestId}"`);
        expect(new URL(`urn:portico:request:${requestId}`).pathname.endsWith(requestId)).to.equal(true);
        const types = [hasBody(req), noCache, credentials.headerBytes].map((fact) => typeof fact);
        expect(types).to.deep.equal(['boolean', 'boolean', 'number']);
      }),
      { numRuns: 1000, seed: SEED },
    );
  });
});

describe('a request id', () => {
  it("is the caller's if that is well-formed", () => {
    for (const id of ['a', 'AZaz09._~:/+=@-', 'x'.repeat(128)]) expect(idFor(id)).to.equal(id);
  });

  it('is a new one each time without one, with two, and with one that is not well-formed', () => {
    expect(idFor()).to.match(GENERATED).and.not.equal(idFor());
    expect(idFor('a', 'b')).to.match(GENERATED);
    const malformed = ['', 'x'.repeat(129), 'a b', 'a,b', 'a"b', 'a\nb', 'a%b', 'é', '<a>', '{a}', 'a\\b', 'one, two'];
    for (const id of malformed) expect(idFor(id), JSON.stringify(id)).to.match(GENERATED);
  });

  it('is new if it repeats the credential, well-formed or not', () => {
    expect(idFor('id:token')).to.match(GENERATED);
    const raw = ['Authorization', 'Basic secret', 'authorization', 'Bearer other', 'X-Request-Id', 'id:secret'];
    expect(open(raw).record.requestId).to.match(GENERATED);
  });
});

describe('a trace', () => {
  it('is ignored if its id is the token, or if it is sent twice', async () => {
    const { url, reads, ended } = await serve();
    const traceparent = `00-${TRACE_ID}-00f067aa0ba902b7-01`;
    await exchange(url, get(READ, { Authorization: `Bearer ${TRACE_ID}`, traceparent }));
    await exchange(url, get(READ, { traceparent, Traceparent: traceparent }));
    expect(reads.map(({ caller }) => caller.trace)).to.deep.equal([undefined, undefined]);
    for (const record of await ended(2)) expect(record).not.to.have.property('traceId');
  });
});
