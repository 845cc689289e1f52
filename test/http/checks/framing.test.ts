import { expect } from 'chai';
import { closeAll, LIST, serve } from '../served.ts';
import { ask, get } from '../wire.ts';

const LIMITS = { maxUrlBytes: 300, maxHeaderBytes: 1024 };

describe('the framing of a request', () => {
  afterEach(closeAll);

  it('leaves room for a target of exactly maxUrlBytes', async () => {
    const { url } = await serve(LIMITS);
    const target = `${LIST}?`.padEnd(LIMITS.maxUrlBytes, 'x');
    expect((await ask(url, get(target))).status).to.equal(200);
    const { status, json } = await ask(url, get(`${target}x`));
    expect([status, json['code']]).to.deep.equal([414, 'uri_too_long']);
  });

  it('leaves room for headers of exactly maxHeaderBytes', async () => {
    const { url } = await serve(LIMITS);
    const used = get(LIST, { X: '' }).length - `GET ${LIST} HTTP/1.1\r\n\r\n`.length;
    const room = 'x'.repeat(LIMITS.maxHeaderBytes - used);
    expect((await ask(url, get(LIST, { X: room }))).status).to.equal(200);
    const { status, json } = await ask(url, get(LIST, { X: `${room}x` }));
    expect([status, json['code']]).to.deep.equal([431, 'headers_too_large']);
  });

  it('counts many small headers as what they take', async () => {
    const { url } = await serve({ maxHeaderBytes: 16_384 });
    const fields = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`h${index}`, '']));
    expect((await ask(url, get(LIST, fields))).status).to.equal(431);
  });

  it('is that of HTTP/1.1 or HTTP/1.0', async () => {
    const { url } = await serve();
    expect((await ask(url, get(LIST).replace('HTTP/1.1', 'HTTP/1.0'))).status).to.equal(200);
    expect((await ask(url, get(LIST).replace('HTTP/1.1', 'HTTP/2.0'))).status).to.equal(400);
    expect((await ask(url, `GET ${LIST}\r\n\r\n`)).status).to.equal(400);
  });

  it('has no fragment in its target', async () => {
    const { url } = await serve();
    const { status, json } = await ask(url, get(`${LIST}#x`));
    expect([status, json['code']]).to.deep.equal([400, 'invalid_request']);
  });
});
