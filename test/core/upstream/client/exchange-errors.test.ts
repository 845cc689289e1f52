import { expect } from 'chai';
import type { ErrorCode } from '../../../../src/core/kernel/error-table.ts';
import type { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { errorOfExchange, retryAfterSeconds } from '../../../../src/core/upstream/client/exchange-errors.ts';
import type { UpstreamOptions } from '../../../../src/core/upstream/client/upstream-client.ts';
import { json } from '../../../support/platform/http-upstream.ts';
import { asking, calm, errorOf, useHarness } from '../harness.ts';

const CALLERS_OWN: Record<number, ErrorCode> = {
  201: 'upstream_invalid',
  202: 'upstream_invalid',
  204: 'upstream_invalid',
  206: 'upstream_invalid',
  300: 'upstream_failed',
  302: 'upstream_failed',
  304: 'upstream_failed',
  400: 'upstream_refused',
  401: 'credential_rejected',
  403: 'access_denied',
  404: 'upstream_refused',
  405: 'upstream_refused',
  406: 'upstream_refused',
  407: 'upstream_refused',
  408: 'upstream_failed',
  410: 'upstream_refused',
  418: 'upstream_refused',
  422: 'upstream_refused',
  425: 'upstream_failed',
  429: 'upstream_rate_limited',
  451: 'upstream_refused',
  499: 'upstream_refused',
  500: 'upstream_failed',
  502: 'upstream_failed',
  503: 'upstream_failed',
  504: 'upstream_failed',
  599: 'upstream_failed',
};

const PORTICOS: Record<number, ErrorCode> = {
  401: 'upstream_credential_rejected',
  403: 'upstream_credential_rejected',
  404: 'upstream_refused',
};

describe('the status of an upstream', () => {
  const { serve, open } = useHarness();

  async function errorFor(status: number, options: Partial<UpstreamOptions> = {}) {
    const body = status === 204 || status === 304 ? undefined : { message: 'secret words of the platform' };
    const server = await serve(json(body, status));
    return errorOf(open(server.url, options).get(asking(), calm()));
  }

  it('brings a page with 200 and 203', async () => {
    for (const status of [200, 203]) {
      const server = await serve(json([1], status));
      expect((await open(server.url).get(asking(), calm())).page).to.equal('[1]');
    }
  });

  for (const [status, code] of Object.entries(CALLERS_OWN)) {
    it(`${status} is ${code} when it was the caller's own token`, async () => {
      const error = await errorFor(Number(status));
      expect(error).to.include({ code, upstream: 'projects', reason: `answered with status ${status}` });
      expect(error.detail).to.not.contain('secret');
    });
  }

  for (const [status, code] of Object.entries(PORTICOS)) {
    it(`${status} is ${code} when the credential is Portico's`, async () => {
      const error = await errorFor(Number(status), { callersOwn: false });
      expect(error).to.include({ code, upstream: 'projects' });
    });
  }

  it("401 is Portico's business and 403 the caller's, where the credential was made for the caller", async () => {
    const codes = [401, 403].map(
      async (status) => (await errorFor(status, { callersOwn: false, madeForCaller: true })).code,
    );
    expect(await Promise.all(codes)).to.deep.equal(['upstream_credential_rejected', 'access_denied']);
  });

  it('is reported as a response, with whether trying again may help', async () => {
    for (const [status, detail] of [
      [302, /answered with a redirect, which is not followed/],
      [400, /refused the request. Trying again will not help/],
      [404, /has no list where Portico asked for it, or hides it. Trying again will not help/],
      [410, /has no list where Portico asked for it, or hides it/],
      [408, /answered this read with an error. Trying again may help/],
      [503, /answered this read with an error. Trying again may help/],
    ] as const) {
      const { detail: told } = await errorFor(status);
      expect(told).to.match(detail).and.not.contain('did not answer');
    }
  });

  it('is a fault from 500 on, and speaks of a passing state with 502, 503 and 504', async () => {
    for (const status of [302, 400, 401, 403, 404, 408, 418, 425, 429]) {
      expect(await errorFor(status), String(status)).to.include({ fault: false, retryable: undefined });
    }
    for (const status of [500, 501, 599]) {
      expect(await errorFor(status), String(status)).to.include({ fault: true, retryable: undefined });
    }
    for (const status of [502, 503, 504]) {
      const server = await serve(json({}, status, { 'retry-after': '7' }));
      const error = await errorOf(open(server.url).get(asking(), calm()));
      expect(error, String(status)).to.include({ fault: true, retryable: 'status', retryAfterSeconds: 7 });
    }
  });
});

const NOW = Date.UTC(1994, 10, 6, 8, 49, 7);

describe('Retry-After', () => {
  it('is read as whole seconds, from one second to an hour', () => {
    expect(retryAfterSeconds('120', NOW)).to.equal(120);
    expect(retryAfterSeconds('0', NOW)).to.equal(1);
    expect(retryAfterSeconds('86400', NOW)).to.equal(3600);
    expect(retryAfterSeconds('9'.repeat(400), NOW)).to.equal(3600);
  });

  it('is read as a date in each of the three forms of HTTP', () => {
    expect(retryAfterSeconds('Sun, 06 Nov 1994 08:49:37 GMT', NOW)).to.equal(30);
    expect(retryAfterSeconds('Sunday, 06-Nov-94 08:49:37 GMT', NOW)).to.equal(30);
    expect(retryAfterSeconds('Sun Nov  6 08:49:37 1994', NOW)).to.equal(30);
  });

  it('is rounded up to whole seconds, and at least one where the date is past', () => {
    expect(retryAfterSeconds('Sun, 06 Nov 1994 08:49:37 GMT', NOW + 28_001)).to.equal(2);
    expect(retryAfterSeconds('Sun, 06 Nov 1994 08:49:37 GMT', NOW + 60_000)).to.equal(1);
    expect(retryAfterSeconds('Mon, 06 Nov 1995 08:49:37 GMT', NOW)).to.equal(3600);
  });

  it('is ignored if it is absent, repeated or malformed', () => {
    for (const field of [
      undefined,
      ['1', '2'],
      '',
      '-1',
      '1.5',
      '1e3',
      ' ',
      'soon',
      '1994-11-06T08:49:37Z',
      'Sun, 66 Nov 1994 08:49:37 GMT',
    ]) {
      expect(retryAfterSeconds(field, NOW), String(field)).to.equal(undefined);
    }
  });
});

describe('an exchange that breaks off', () => {
  const { serve, serveRaw, open } = useHarness();

  const PAGE = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
  const LOST = { reason: 'the connection was lost', detail: /did not answer/ };
  const BROKE_OFF = { detail: /broke off its answer/ };
  const GARBLED = { reason: 'the response is not well-formed HTTP', detail: /not in HTTP that can be read/ };
  const BREAKS: readonly (readonly [string, string, 'end' | 'reset' | 'stay', { reason?: string; detail?: RegExp }])[] =
    [
      ['closes the connection before headers', '', 'end', LOST],
      ['resets it', '', 'reset', LOST],
      ['ends a body before its length', `${PAGE}Content-Length: 100\r\n\r\n[1,2`, 'end', BROKE_OFF],
      [
        'resets it within a body of chunks',
        `${PAGE}Transfer-Encoding: chunked\r\n\r\n4\r\n[1,2\r\n`,
        'reset',
        BROKE_OFF,
      ],
      ['speaks no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'stay', GARBLED],
      ['sends two lengths', `${PAGE}Content-Length: 2\r\nContent-Length: 3\r\n\r\n[]`, 'stay', {}],
      ['sends informational statuses only', 'HTTP/1.1 100 Continue\r\n\r\n', 'end', {}],
      ['switches protocols', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n', 'end', {}],
      ['sends large headers', `${PAGE}X: ${'x'.repeat(1e5)}`, 'stay', { reason: 'the response headers are too large' }],
    ];
  for (const [what, bytes, end, { reason, detail = /./ }] of BREAKS) {
    it(`is upstream_failed where the platform ${what}`, async () => {
      const { url } = await serveRaw((socket) => {
        socket.write(bytes, () => {
          if (end === 'end') socket.end();
          if (end === 'reset') setTimeout(() => socket.resetAndDestroy(), 20);
        });
      });
      const error = await errorOf(open(url).get(asking(), calm()));
      expect(error).to.include({ code: 'upstream_failed', upstream: 'projects', ...(reason && { reason }) });
      expect(error.detail).to.match(detail);
      expect(error.cause).to.be.instanceOf(Error);
    });
  }

  it('is upstream_failed where the connection is refused', async () => {
    const server = await serve(() => {});
    await server.close();
    const error = await errorOf(open(server.url).get(asking(), calm()));
    expect(error).to.include({ code: 'upstream_failed', upstream: 'projects', reason: 'the connection was refused' });
    expect(error.cause).to.have.property('code', 'ECONNREFUSED');
  });

  it('is counted, and retried if no connection was made or one was lost', () => {
    const codes = {
      UND_ERR_CONNECT_TIMEOUT: 'connect',
      ECONNREFUSED: 'connect',
      EHOSTUNREACH: 'connect',
      ENETDOWN: 'connect',
      EAI_AGAIN: 'connect',
      ECONNRESET: 'reset',
      EPIPE: 'reset',
      UND_ERR_SOCKET: 'reset',
      UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'reset',
      UND_ERR_HEADERS_OVERFLOW: undefined,
      CERT_HAS_EXPIRED: undefined,
      UNHEARD_OF: undefined,
    };
    for (const [code, retryable] of Object.entries(codes)) {
      const { fault, retryable: given } = errorOfExchange(
        Object.assign(new Error('x'), { code }),
        false,
      ) as GatewayError;
      expect({ code, fault, retryable: given }).to.deep.equal({ code, fault: true, retryable });
    }
  });

  it('is not counted, nor retried, if this process has no descriptor or memory for a connection', () => {
    for (const code of ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']) {
      expect(errorOfExchange(Object.assign(new Error('x'), { code }), true), code).to.include({
        code: 'overloaded',
        fault: false,
        retryable: undefined,
      });
    }
  });

  it('is not counted for a client that was closed', () => {
    const error = errorOfExchange(Object.assign(new Error('x'), { code: 'UND_ERR_DESTROYED' }), true);
    expect(error).to.include({ code: 'draining', fault: false, retryable: undefined });
  });

  it('has its words kept in the cause and nowhere else', () => {
    const theirs = Object.assign(new Error('secret words'), { code: 'ENOTFOUND' });
    const error = errorOfExchange(theirs, false);
    expect(error).to.include({ code: 'upstream_failed', reason: 'the host name was not resolved', cause: theirs });
    expect(String(error)).to.not.contain('secret');
    expect(errorOfExchange('thrown text', false)).to.include({
      code: 'upstream_failed',
      message: 'the request failed',
    });
  });
});
