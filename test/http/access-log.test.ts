import { expect } from 'chai';
import { GatewayError } from '../../src/kernel/errors.ts';
import { closeAll, LIST, loadOf, manyItems, READ, serve } from './served.ts';
import { ask, get } from './wire.ts';

const ALWAYS = ['level', 'time', 'msg', 'method', 'route', 'status', 'outcome', 'ms', 'bytes', 'requestId'];

describe('the access log', () => {
  afterEach(closeAll);

  it('has one line a request, with what is known of it', async () => {
    const { url, access } = await serve({ read: () => loadOf(manyItems()) });
    const body = await ask(url, get(READ, { 'Accept-Encoding': 'gzip' }));
    await ask(url, get(READ, { 'If-None-Match': '*' }));
    await ask(url, get(LIST));
    await ask(url, get('/secret/path?secret=query'));
    await ask(url, get(LIST, { Authorization: undefined }));
    const [read, known, list, unknown, missing] = await access(5);
    expect(read).to.have.all.keys(...ALWAYS, 'resource', 'upstreamMs', 'cache', 'partition');
    expect(read).to.include({
      method: 'GET',
      route: '/mcp/v1/resources/read',
      resource: 'tools',
      status: 200,
      outcome: 'ok',
      upstreamMs: 12.3,
      cache: 'bypass',
      bytes: body.body.length,
    });
    expect(known).to.include({ status: 304, outcome: 'not_modified', bytes: 0 });
    expect(list).to.have.all.keys(...ALWAYS, 'partition');
    expect(list).to.include({ route: '/mcp/v1/resources', outcome: 'ok' });
    expect(unknown).to.have.all.keys(...ALWAYS);
    expect(unknown).to.include({ route: 'unmatched', status: 404, outcome: 'not_found' });
    expect(missing).to.have.all.keys(...ALWAYS);
    expect(missing).to.include({ route: '/mcp/v1/resources', status: 401, outcome: 'credential_missing' });
    expect(await access(5)).to.have.length(5);
  });

  it('names callers by the beginning of their partition', async () => {
    const { url, reads, access } = await serve();
    await ask(url, get(READ));
    const [line] = await access(1);
    expect(line?.['partition']).to.equal(reads[0]?.caller.partition.slice(0, 12)).and.have.length(12);
  });

  it('says how long a failed read took, and why it failed', async () => {
    const { url, access } = await serve({
      read: () => {
        throw new GatewayError('upstream_invalid', { upstream: 'tools', reason: 'page 3 repeats page 2' });
      },
    });
    await ask(url, get(READ));
    const [line] = await access(1);
    expect(line).to.have.all.keys(...ALWAYS, 'resource', 'upstreamMs', 'partition', 'upstream', 'reason');
  });

  it('holds nothing that a caller sent, but for ids', async () => {
    const { url, text, access } = await serve();
    const secrets = {
      Cookie: 'secret-1',
      Authorization: 'Bearer secret-2',
      'X-Request-Id': 'secret-2',
      tracestate: 'secret-3',
      'User-Agent': 'secret-4',
      'If-None-Match': '"secret-5"',
    };
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    for (const target of [READ, `${LIST}?secret-6`, '/secret-7', '/mcp/v1/resources/read?uri=secret-8']) {
      await ask(url, get(target, { ...secrets, traceparent }));
      await ask(url, get(target, { ...secrets, Authorization: 'Basic secret-9', 'X-Request-Id': 'secret-9' }));
    }
    await ask(url, get(READ, { Host: 'secret-10.example' }));
    await ask(url, get(READ, { Origin: 'https://secret-11.example' }));
    await ask(url, 'SECRET-12 / HTTP/1.1\r\n\r\n');
    expect(await access(11)).to.have.length(11);
    expect(text().toLowerCase()).not.to.contain('secret');
    expect(text()).to.contain('4bf92f3577b34da6a3ce929d0e0e4736').and.not.to.contain('00f067aa0ba902b7');
  });
});
