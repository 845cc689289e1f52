import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { closeAll, LIST, READ, serve } from '../served.ts';
import { ask, get, openWire } from '../wire.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

afterEach(closeAll);

describe('every answer', () => {
  for (const [what, request] of Object.entries({
    'a list': get(LIST),
    'a 304': get(LIST, { 'If-None-Match': '*' }),
    'a probe': get('/livez'),
    'a refusal': get('/nothing'),
    garbage: 'garbage\r\n\r\n',
    CONNECT: 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n',
  })) {
    it(`has a request id and the security headers: ${what}`, async () => {
      const { url } = await serve();
      const { headers } = await ask(url, request);
      expect(headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
      expect(Object.fromEntries(headers)).to.include({
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
      });
      expect(headers.has('date')).to.equal(true);
      for (const name of ['server', 'x-powered-by']) expect(headers.has(name)).to.equal(false);
    });
  }
});

describe('a request id', () => {
  it('of the caller is on the answer, in the problem and in the log', async () => {
    const { url, access } = await serve();
    expect((await ask(url, get(LIST, { 'X-Request-Id': 'mine-1' }))).headers.get('x-request-id')).to.equal('mine-1');
    const { headers, json } = await ask(url, get('/nothing', { 'X-Request-Id': 'mine-2' }));
    expect(headers.get('x-request-id')).to.equal('mine-2');
    expect(json).to.include({ requestId: 'mine-2', instance: 'urn:portico:request:mine-2' });
    expect((await access(2)).map(({ requestId }) => requestId)).to.deep.equal(['mine-1', 'mine-2']);
  });

  it('that repeats the token, is not well-formed or comes twice is not taken', async () => {
    const { url, text } = await serve();
    for (const fields of [
      { 'X-Request-Id': 'a-token-of-the-test' },
      { 'X-Request-Id': 'a b' },
      { 'X-Request-Id': 'a', 'x-request-id': 'b' },
    ]) {
      expect((await ask(url, get(LIST, fields))).headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
    }
    expect(text()).not.to.contain('token-of-the-test');
  });
});

describe('a trace', () => {
  it('is named in the log where the caller has one', async () => {
    const { url, access } = await serve();
    await ask(url, get(LIST, { traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01` }));
    await ask(url, get(LIST, { traceparent: 'nonsense' }));
    await ask(url, get(LIST));
    const [first, ...others] = await access(3);
    expect(first).to.include({ traceId: TRACE_ID });
    for (const line of others) expect(line).not.to.have.property('traceId');
  });

  it('whose id is the token is not taken', async () => {
    const { url, reads, text } = await serve();
    await ask(
      url,
      get(READ, { Authorization: `Bearer ${TRACE_ID}`, traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01` }),
    );
    expect(reads[0]?.caller).not.to.have.property('trace');
    expect(text()).not.to.contain(TRACE_ID);
  });
});

describe('a body', () => {
  const body = 'x'.repeat(100_000);

  it('that is not wanted is read away, so that the answer arrives whole', async () => {
    const { url, access } = await serve();
    const wire = openWire(url);
    wire.write(get(LIST, { 'Content-Length': String(body.length) }, 'POST'));
    for (let sent = 0; sent < body.length; sent += 10_000) {
      expect(wire.answers()).to.deep.equal([]);
      wire.write(body.slice(sent, sent + 10_000));
      await sleep(10);
    }
    const answers = await wire.closed();
    expect(answers.map(({ status }) => status)).to.deep.equal([405]);
    expect(answers[0]?.headers.get('connection')).to.equal('close');
    expect(await access(1)).to.have.length(1);
  });

  it('that does not come is not waited for long', async () => {
    const { url } = await serve();
    const wire = openWire(url);
    wire.write(get(LIST, { 'Content-Length': '10' }, 'PUT'));
    expect((await wire.closed()).map(({ status }) => status)).to.deep.equal([405]);
  });

  it('for which the client awaits a word is told no at once', async () => {
    const { url } = await serve();
    const wire = openWire(url);
    const begun = performance.now();
    wire.write(get(LIST, { 'Content-Length': '10', Expect: '100-continue' }));
    expect((await wire.closed()).map(({ status }) => status)).to.deep.equal([400]);
    expect(performance.now() - begun).to.be.below(800);
  });

  it('that does not parse is answered for once, by its own request', async () => {
    const { url, access } = await serve();
    for (const fields of [{ 'Transfer-Encoding': 'chunked' }, { 'Transfer-Encoding': 'gzip' }]) {
      const wire = openWire(url);
      wire.write(`${get(LIST, fields)}nonsense\r\n\r\n`);
      const answers = await wire.closed();
      expect(answers.map(({ status }) => status)).to.deep.equal([400]);
    }
    expect(await access(2)).to.have.length(2);
  });

  it('is followed by nothing that would be taken for another request', async () => {
    const { url, reads, access } = await serve();
    const wire = openWire(url);
    wire.write(`${get(LIST, { 'Content-Length': '2' })}{}${get(READ)}`);
    expect(await wire.closed()).to.have.length(1);
    expect(reads).to.deep.equal([]);
    expect(await access(1)).to.have.length(1);
  });
});
