import { expect } from 'chai';
import { ERRORS, type ErrorCode } from '../../../src/core/kernel/error-table.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { LIST, READ, serve } from '../../core/http/served.ts';
import { heldUntil, loadOf, manyTools } from '../../support/platform/loads.ts';
import { describedBy, THE_READS } from '../../support/platform/openapi.ts';
import { exchange, get, requestText } from '../../support/raw-http.ts';

const PATH = '/openapi.json';
const anonymous = { Authorization: undefined };

describe('the description of the reads, over HTTP', () => {
  it('needs no token', async () => {
    const { url, ended } = await serve();
    const response = await exchange(url, get(PATH, anonymous));
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal('application/json');
    expect(response.headers.get('cache-control')).to.equal('no-cache');
    expect(response.json()).to.deep.equal(THE_READS.document);
    expect((await ended(1))[0])
      .to.include({ route: PATH, outcome: 'ok' })
      .and.not.have.property('callerKey');
  });

  it('names the server: the public address, or the one that was requested', async () => {
    const { url } = await serve({ publicUrl: 'https://apps.example/portico' });
    expect((await exchange(url, get(PATH, anonymous))).json()).to.deep.equal({
      ...THE_READS.document,
      servers: [{ url: 'https://apps.example/portico' }],
    });
    expect(THE_READS.document).to.deep.include({ servers: [{ url: '/' }] });
  });
});

describe('an answer is as the description has it', () => {
  const NOW = 1_800_000_000_000;

  it('for the statuses of the list and of a read', async () => {
    const met = new Set<string>();
    let code: ErrorCode | undefined;
    let isStopping = false;
    const { url } = await serve({
      maxUrlBytes: 200,
      maxHeaderBytes: 2000,
      // Long enough for a request that comes a little late to be none that is too slow.
      headersTimeoutMs: 1500,
      requestTimeoutMs: 1500,
      now: () => NOW,
      authenticate: (authorization) => {
        if (code !== undefined && ERRORS[code].status !== 502) throw new GatewayError(code);
        if (isStopping) throw new TypeError('a bug');
        return { credential: {}, credentialKey: 'a', cacheScope: 'a', authorization } as never;
      },
      read: () => {
        if (code !== undefined) throw new GatewayError(code, { upstream: 'tools', retryAfterSeconds: 7 });
        return loadOf(manyTools(), { loadedAt: NOW - 5000, dropped: 2, ...heldUntil(NOW + 55_000) });
      },
    });
    const described = describedBy(await (await fetch(`${url}${PATH}`)).text());

    async function meet(target: string, fields: Record<string, string | undefined> = {}, body = ''): Promise<void> {
      const response = await exchange(url, requestText('GET', target, fields, body));
      described.check(target, response);
      met.add(`${target.split('?')[0]} ${response.status}`);
    }

    for (const target of [LIST, READ]) {
      await meet(target);
      await meet(target, { 'Accept-Encoding': 'gzip' });
      await meet(target, { 'Accept-Encoding': 'zstd' });
      await meet(target, { 'If-None-Match': '*' });
      await meet(target, { Accept: 'text/html' });
      await meet(target, { 'X-Large': 'x'.repeat(3000) });
      await meet(`${target}${target === LIST ? '?' : '&'}x=${'x'.repeat(300)}`);
      await meet(target, { Origin: 'https://evil.example' });
      await meet(target, { Host: 'evil.example' });
      await meet(target, {}, '{}');
      await meet(target, { 'Content-Length': '10' });
      for (code of [
        'credential_rejected',
        'request_timeout',
        'rate_limited',
        'overloaded',
        'upstream_timeout',
      ] as const)
        await meet(target);
      code = undefined;
    }
    isStopping = true;
    await meet(READ);

    const statuses = [200, 304, 400, 401, 403, 406, 408, 414, 421, 429, 431, 503, 504];
    const expected = [LIST, READ].flatMap((target) => statuses.map((status) => `${target.split('?')[0]} ${status}`));
    expect(met).to.include.all.keys(...expected);
  });
});
