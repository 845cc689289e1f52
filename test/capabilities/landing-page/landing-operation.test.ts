import { hash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { AUTHORITY, tlsOf } from '../../core/http/over-tls.ts';
import { serve } from '../../core/http/served.ts';
import { exchange, get, requestText } from '../../support/raw-http.ts';

const BROWSER = {
  Authorization: undefined,
  Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
};

describe('a browser that lands at /', () => {
  it('may load the one style of the page, and nothing else', async () => {
    const { url } = await serve();
    const { headers, body } = await exchange(url, get('/', BROWSER));
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(body.toString()) ?? [];
    const source = `'sha256-${hash('sha256', style, 'base64')}'`;
    expect(headers.get('content-security-policy')).to.equal(
      `default-src 'none'; style-src ${source}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
  });

  it('shows the public address, for every requested one', async () => {
    const { url } = await serve({ host: '0.0.0.0', acceptsAnyHost: true, publicUrl: 'https://apps.example/portico' });
    for (const host of ['localhost:8080', 'evil.example', '$(id)']) {
      const { status, body } = await exchange(
        url.replace('0.0.0.0', '127.0.0.1'),
        get('/', { ...BROWSER, Host: host }),
      );
      expect(status, host).to.equal(200);
      expect(body.toString()).to.contain('<b>https://apps.example/portico</b>/mcp/v1/resources');
      expect(body.toString()).to.not.contain(host);
    }
  });

  it('is not there for a host that is no name of a server: a snippet may go into a shell', async () => {
    // Without a setting, a listener on all addresses answers for any name.
    const { url } = await serve({ host: '0.0.0.0', acceptsAnyHost: true });
    const local = url.replace('0.0.0.0', '127.0.0.1');
    for (const host of ['$(id)', 'a;b', "a'b", 'a&b', '', '-a', `${'a'.repeat(254)}`, 'a:123456', '%41', '[::1']) {
      const { status } = await exchange(local, get('/', { ...BROWSER, Host: host }));
      expect(status, host).to.be.oneOf([400, 404]);
    }
    expect((await exchange(local, 'GET / HTTP/1.0\r\nAccept: text/html\r\n\r\n')).status).to.equal(404);
    await fc.assert(
      fc.asyncProperty(
        fc.string({ maxLength: 12, unit: fc.constantFrom(...'aZ0.-_:$(){}`\'"&;|<>\\=!~*%[]') }),
        async (host) => {
          const { status, body } = await exchange(local, get('/', { ...BROWSER, Host: host }));
          if (status === 200)
            expect(body.toString()).to.match(/<b>http:\/\/(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d+)?<\/b>/);
          else expect(status).to.be.oneOf([400, 404]);
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('a client that is not a browser', () => {
  it('finds nothing at / unless it prefers HTML', async () => {
    const { url, ended } = await serve();
    const others = [
      undefined,
      '',
      '*/*',
      'application/json, text/html',
      'application/json, text/event-stream',
      'image/*',
    ];
    for (const accept of others) {
      const response = await exchange(url, get('/', { Accept: accept }));
      expect(response.status, accept).to.equal(404);
      expect(response.json()).to.include({ code: 'not_found' });
    }
    expect((await ended(others.length)).at(-1)).to.include({ route: 'unmatched', outcome: 'not_found' });
    for (const accept of ['text/html', 'text/html, application/json', 'text/html;q=0.9, */*;q=0.1', 'text/*']) {
      expect((await exchange(url, get('/', { Accept: accept }))).status, accept).to.equal(200);
    }
  });

  it('shows the address of the request', async () => {
    const { url } = await serve({ allowedHosts: ['portico.example', 'my_host'] });
    const overTls = { 'Sec-Fetch-Mode': 'navigate' };
    for (const [target, fields, origin] of [
      ['/?utm_source=x', { Host: 'portico.example:8080' }, 'http://portico.example:8080'],
      ['http://my_host/', { Host: 'portico.example' }, 'http://my_host'],
      ['/', { Host: 'portico.example', ...overTls }, 'https://portico.example'],
      // Browsers send it to this machine without TLS, too.
      ['/', { Host: '[::1]:8080', ...overTls }, 'http://[::1]:8080'],
    ] as const) {
      const { body } = await exchange(url, get(target, { ...BROWSER, ...fields }));
      expect(body.toString()).to.contain(`<b>${origin}</b>/mcp`);
    }
  });

  it('finds nothing at / with another method than GET and HEAD', async () => {
    const { url } = await serve();
    const head = await exchange(url, requestText('HEAD', '/', BROWSER));
    expect(Number(head.headers.get('content-length'))).to.be.above(1000);
    for (const [method, body] of [['POST'], ['OPTIONS'], ['POST', '{}']] as const) {
      const { status, headers } = await exchange(url, requestText(method, '/', BROWSER, body));
      expect([status, headers.has('allow')]).to.deep.equal([404, false]);
    }
  });

  it('is shown https addresses where TLS ends here, on this machine, too', async () => {
    const { url } = await serve({ tls: tlsOf() });
    const tls = { ca: AUTHORITY.ca };
    const { body } = await exchange(url, get('/', { ...BROWSER, Host: 'localhost:8443' }), { tls });
    expect(body.toString()).to.contain('<b>https://localhost:8443</b>').and.not.contain('http://localhost');
  });
});
