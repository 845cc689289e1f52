import { expect } from 'chai';
import type { ErrorCode } from '../../src/kernel/errors.ts';
import type { UpstreamOptions } from '../../src/upstream/client.ts';
import { answerJson } from '../support/http-upstream.ts';
import { asking, calm, failureOf, useHarness } from './harness.ts';

const CALLERS_OWN: Record<number, ErrorCode> = {
  201: 'upstream_invalid',
  202: 'upstream_invalid',
  204: 'upstream_invalid',
  206: 'upstream_invalid',
  300: 'upstream_failed',
  302: 'upstream_failed',
  304: 'upstream_failed',
  400: 'upstream_failed',
  401: 'credential_rejected',
  403: 'access_denied',
  404: 'upstream_failed',
  407: 'upstream_failed',
  418: 'upstream_failed',
  429: 'upstream_rate_limited',
  500: 'upstream_failed',
  502: 'upstream_failed',
  503: 'upstream_failed',
  504: 'upstream_failed',
  599: 'upstream_failed',
};

const PORTICOS: Record<number, ErrorCode> = {
  401: 'upstream_credential_rejected',
  403: 'upstream_credential_rejected',
  404: 'upstream_failed',
};

describe('the status of an upstream', () => {
  const { serve, serveRaw, open } = useHarness();

  async function refusalFor(status: number, options: Partial<UpstreamOptions> = {}) {
    const body = status === 204 || status === 304 ? undefined : { message: 'secret words of the platform' };
    const server = await serve(answerJson(body, status));
    return failureOf(open(server.url, options).get(asking(), calm()));
  }

  it('brings a page with 200 and 203', async () => {
    for (const status of [200, 203]) {
      const server = await serve(answerJson([1], status));
      expect((await open(server.url).get(asking(), calm())).page).to.equal('[1]');
    }
  });

  for (const [status, code] of Object.entries(CALLERS_OWN)) {
    it(`${status} is ${code} when it was the caller's own token`, async () => {
      const error = await refusalFor(Number(status));
      expect(error).to.include({ code, upstream: 'projects', reason: `answered with status ${status}` });
      expect(error.detail).to.not.contain('secret');
    });
  }

  for (const [status, code] of Object.entries(PORTICOS)) {
    it(`${status} is ${code} when the credential is Portico's`, async () => {
      const error = await refusalFor(Number(status), { credential: { callersOwn: false, headers: () => ({}) } });
      expect(error).to.include({ code, upstream: 'projects' });
    });
  }

  it('brings the wait that Retry-After asks for, and that of the table where it asks for none', async () => {
    const waits = { '7': 7, '0': 1, '999999': 3600, nonsense: 1 };
    for (const [field, seconds] of Object.entries(waits)) {
      const server = await serve(answerJson({}, 429, { 'retry-after': field }));
      const error = await failureOf(open(server.url).get(asking(), calm()));
      expect(error.retryAfterSeconds, field).to.equal(seconds);
    }
    expect((await refusalFor(429)).retryAfterSeconds).to.equal(1);
    expect((await refusalFor(503)).retryAfterSeconds).to.equal(undefined);
  });

  it('is a fault from 500 on, and speaks of a passing state with 502, 503 and 504', async () => {
    for (const status of [302, 401, 403, 404, 418, 429]) {
      expect(await refusalFor(status), String(status)).to.include({ fault: false, retryable: undefined });
    }
    for (const status of [500, 501, 505, 599]) {
      expect(await refusalFor(status), String(status)).to.include({ fault: true, retryable: undefined });
    }
    for (const status of [502, 503, 504]) {
      const server = await serve(answerJson({}, status, { 'retry-after': '7' }));
      const error = await failureOf(open(server.url).get(asking(), calm()));
      expect(error, String(status)).to.include({ fault: true, retryable: 'status', retryAfterSeconds: 7 });
    }
  });

  it('leaves the connection to the next request when the body is small, and closes it when not', async () => {
    for (const [length, connections] of [
      [500, 1],
      [500_000, 2],
    ] as const) {
      const { url, sockets } = await serveRaw((socket) =>
        socket.write(`HTTP/1.1 500 Oops\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`),
      );
      const upstream = open(url, { connections: 1 });
      for (let count = 0; count < 2; count += 1) {
        expect((await failureOf(upstream.get(asking(), calm()))).code).to.equal('upstream_failed');
      }
      expect(sockets).to.have.length(connections);
    }
  });

  it('does not wait for a body that stalls, and gives its connection up soon', async () => {
    const { url, sockets } = await serveRaw((socket) =>
      socket.write('HTTP/1.1 401 No\r\nContent-Length: 500\r\n\r\nx'),
    );
    const error = await failureOf(open(url).get(asking(), calm()));
    expect(error.code).to.equal('credential_rejected');
    const [socket] = sockets;
    await new Promise((resolve) => socket?.on('close', resolve));
  });
});
