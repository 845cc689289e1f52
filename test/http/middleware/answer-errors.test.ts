import { expect } from 'chai';
import { GatewayError } from '../../../src/kernel/errors.ts';
import { closeAll, READ, serve } from '../served.ts';
import { ask, get } from '../wire.ts';

const TOKEN = 'token+of/the~test==';
const request = get(READ, { Authorization: `Bearer ${TOKEN}`, 'X-Request-Id': 'mine' });

describe('an error of the table', () => {
  afterEach(closeAll);

  it('tells its caller its row, and the log its reason and the names of its causes', async () => {
    const socket = Object.assign(new Error('what the upstream said'), { code: 'ECONNRESET' });
    const { url, access, text } = await serve({
      read: () => {
        const cause = new TypeError('what the upstream said', { cause: socket });
        throw new GatewayError('upstream_failed', { upstream: 'tools', reason: 'reset while reading', cause });
      },
    });
    const { status, headers, json, body } = await ask(url, request);
    expect(status).to.equal(502);
    expect(headers.get('content-type')).to.equal('application/problem+json');
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(headers.get('etag')).to.equal(null);
    expect(json).to.deep.equal({
      type: 'urn:portico:error:upstream_failed',
      title: 'Platform failed',
      status: 502,
      detail: 'The platform did not answer this read. Trying again may help.',
      instance: 'urn:portico:request:mine',
      code: 'upstream_failed',
      requestId: 'mine',
      upstream: 'tools',
    });
    const [line] = await access(1);
    expect(line).to.include({
      level: 'info',
      outcome: 'upstream_failed',
      status: 502,
      upstream: 'tools',
      reason: 'reset while reading',
    });
    expect(line?.['causes']).to.deep.equal(['TypeError', 'Error ECONNRESET']);
    expect(line?.['upstreamMs']).to.be.at.least(0);
    expect(text() + body)
      .not.to.contain('what the upstream said')
      .and.not.to.contain(TOKEN);
    expect(text().split('\n')).to.have.length(2);
  });
});

describe('a bug', () => {
  afterEach(closeAll);

  it('is a 500 that says nothing, and a stack in the log without the token', async () => {
    const { url, access, lines, text } = await serve({
      read: ({ caller }) => {
        throw new TypeError(`cannot take ${caller.credential.reveal()} or ${encodeURIComponent(TOKEN)}`);
      },
    });
    const { status, json, body } = await ask(url, request);
    expect(status).to.equal(500);
    expect(json).to.include({ code: 'internal', requestId: 'mine' });
    expect(body.toString()).not.to.contain('cannot take');
    expect((await access(1))[0])
      .to.include({ outcome: 'internal', status: 500 })
      .and.deep.include({ causes: ['TypeError'] });
    const [bug] = lines();
    expect(bug).to.include({ level: 'error', requestId: 'mine' });
    expect(bug?.['stack']).to.match(
      /^TypeError: cannot take \[credential\] or \[credential\]\n {4}at .*answer-errors\.test/,
    );
    expect(text()).not.to.contain(TOKEN).and.not.to.contain(encodeURIComponent(TOKEN));
  });

  it('may throw anything', async () => {
    const { url, lines } = await serve({
      read: () => {
        throw TOKEN;
      },
    });
    expect((await ask(url, request)).json['code']).to.equal('internal');
    expect(lines()[0]).to.include({ level: 'error', stack: 'thrown: string' });
  });

  it('leaves the connection and the process alone', async () => {
    let reads = 0;
    const { url } = await serve({
      read: () => {
        reads += 1;
        throw new Error('bug');
      },
    });
    for (let count = 0; count < 3; count += 1) expect((await ask(url, request)).status).to.equal(500);
    expect(reads).to.equal(3);
  });
});
