import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Endpoint, EndpointRequest } from '../../../src/http/endpoint.ts';
import { GatewayError } from '../../../src/kernel/errors.ts';
import { closeAll, LIST, loadOf, type ServeOptions, serve } from '../served.ts';
import { until } from '../until.ts';
import { ask, get, openWire } from '../wire.ts';

const PATH = '/echo';
const MAX_BYTES = 1024;

afterEach(closeAll);

/** Serves an endpoint that answers with the body of the request, unless `answer` does otherwise. */
async function serveEcho(answer?: (request: EndpointRequest) => unknown, options: ServeOptions = {}) {
  const requests: EndpointRequest[] = [];
  const echo: Endpoint = {
    path: PATH,
    maxBodyBytes: MAX_BYTES,
    async answer(request) {
      requests.push(request);
      await answer?.(request);
      return { status: 200, headers: { 'Content-Type': 'text/plain' }, body: request.body };
    },
  };
  return { ...(await serve({ ...options, endpoints: [echo] })), requests };
}

/** A `POST` of JSON as text. */
function post(body: string, fields: Readonly<Record<string, string | undefined>> = {}, target = PATH): string {
  const length = fields['Transfer-Encoding'] === undefined ? { 'Content-Length': String(body.length) } : {};
  return get(target, { 'Content-Type': 'application/json', ...length, ...fields }, 'POST') + body;
}

describe('an endpoint', () => {
  it('is given the body, the caller and the headers of a POST', async () => {
    const { url, requests } = await serveEcho();
    const { status, headers, body } = await ask(url, post('{"a":1}', { 'X-Request-Id': 'mine', 'X-A': 'b' }));
    expect({ status, body: body.toString() }).to.deep.equal({ status: 200, body: '{"a":1}' });
    expect(headers.get('x-request-id')).to.equal('mine');
    expect(headers.get('content-type')).to.equal('text/plain');
    expect(headers.get('connection')).to.equal('keep-alive');
    const [request] = requests;
    expect(request?.caller.requestId).to.equal('mine');
    expect(request?.headers['x-a']).to.equal('b');
    expect(request?.noCache).to.equal(false);
  });

  it('is told that the caller wants the upstream to be asked', async () => {
    const { url, requests } = await serveEcho();
    await ask(url, post('{}', { 'Cache-Control': 'no-cache' }));
    expect(requests[0]?.noCache).to.equal(true);
  });

  it('takes a body in chunks', async () => {
    const { url } = await serveEcho();
    const { body } = await ask(url, post('3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n', { 'Transfer-Encoding': 'chunked' }));
    expect(body.toString()).to.equal('{"a":1}');
  });

  it('takes a body that arrives after the headers, and asks for one that waits to be asked for', async () => {
    const { url } = await serveEcho();
    const wire = openWire(url);
    wire.write(post('', { 'Content-Length': '7', Expect: '100-continue' }));
    expect((await wire.receive(1))[0]?.status).to.equal(100);
    wire.write('{"a":1}');
    expect((await wire.receive(2))[1]?.body.toString()).to.equal('{"a":1}');
    wire.socket.destroy();
  });

  it('takes a query, and types with UTF-8 for charset', async () => {
    const { url } = await serveEcho();
    for (const [type, target] of [
      ['application/json', `${PATH}?a=b`],
      ['Application/JSON; charset="UTF-8"', PATH],
      ['application/json ; charset=utf-8', PATH],
      ['application/json;', PATH],
    ] as const) {
      expect((await ask(url, post('{}', { 'Content-Type': type }, target))).status, type).to.equal(200);
    }
  });

  it('sends no type with an empty body', async () => {
    const { url } = await serveEcho();
    const { headers, status } = await ask(url, post(''));
    expect(status).to.equal(200);
    expect(headers.has('content-type')).to.equal(false);
    expect(headers.get('content-length')).to.equal('0');
  });

  it('has its facts in the access log', async () => {
    const { url, access } = await serveEcho(({ note }) => {
      note({ rpc: 'resources/read', resource: 'tools' });
      note({ load: loadOf([]), upstreamMs: 12.34 });
      note({ failure: new GatewayError('upstream_failed', { upstream: 'tools', reason: 'refused' }) });
    });
    await ask(url, post('{}'));
    const [line] = await access(1);
    expect(line).to.include({
      method: 'POST',
      route: PATH,
      rpc: 'resources/read',
      resource: 'tools',
      upstreamMs: 12.3,
      cache: 'bypass',
      outcome: 'upstream_failed',
      upstream: 'tools',
      reason: 'refused',
      status: 200,
    });
    expect(line?.['partition']).to.match(/^[\w-]{12}$/);
  });

  it('has what it throws answered as a problem', async () => {
    const { url } = await serveEcho(() => {
      throw new GatewayError('credential_rejected');
    });
    const { status, headers, json } = await ask(url, post('{}'));
    expect(status).to.equal(401);
    expect(headers.get('www-authenticate')).to.contain('error="invalid_token"');
    expect(json).to.include({ code: 'credential_rejected' });
  });

  it('can have a bug logged, without the token', async () => {
    const { url, lines } = await serveEcho(({ logBug }) => logBug(new Error('saw token-of-the-test')));
    await ask(url, post('{}'));
    const bug = lines().find(({ msg }) => msg === 'internal error');
    expect(bug?.['stack']).to.contain('saw [credential]').and.contain('endpoint.test.ts');
  });

  it('hears that its caller hangs up', async () => {
    const { url, requests, access } = await serveEcho(
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    const wire = openWire(url);
    wire.write(post('{}'));
    await until(() => requests.length === 1);
    wire.socket.resetAndDestroy();
    expect((await access(1))[0]).to.include({ outcome: 'caller_gone', route: PATH });
    expect(requests[0]?.signal.aborted).to.equal(true);
  });
});

describe('a request for an endpoint', () => {
  for (const [what, fields, status, code] of [
    ['without a credential', { Authorization: undefined }, 401, 'credential_missing'],
    ['without a type', { 'Content-Type': undefined }, 415, 'unsupported_media_type'],
    ['of another type', { 'Content-Type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['of a type that only begins like JSON', { 'Content-Type': 'application/json5' }, 415, 'unsupported_media_type'],
    ['in another charset', { 'Content-Type': 'application/json; charset=utf-16' }, 415, 'unsupported_media_type'],
    ['compressed', { 'Content-Encoding': 'gzip' }, 415, 'unsupported_media_type'],
    ['whose answer may not be JSON', { Accept: 'text/html' }, 406, 'not_acceptable'],
    ['from another origin', { Origin: 'http://evil.example' }, 403, 'origin_refused'],
    ['from its own origin on another port', { Origin: 'http://localhost:1' }, 403, 'origin_refused'],
    ['for another host', { Host: 'evil.example' }, 421, 'host_refused'],
    ['for another port of its host', { Host: 'localhost:1' }, 421, 'host_refused'],
  ] as const) {
    it(`is refused ${what}, and leaves the connection open`, async () => {
      const { url, requests } = await serveEcho();
      const { status: got, json, headers } = await ask(url, post('{}', fields));
      expect({ got, code: json['code'] }).to.deep.equal({ got: status, code });
      expect(headers.get('connection')).to.equal('keep-alive');
      expect(requests).to.have.length(0);
    });
  }

  for (const method of ['GET', 'HEAD', 'DELETE', 'PUT', 'OPTIONS']) {
    it(`is refused as a ${method}, with the one method that it may have`, async () => {
      const { url } = await serveEcho();
      const { status, headers } = await ask(url, get(PATH, {}, method));
      expect({ status, allow: headers.get('allow') }).to.deep.equal({ status: 405, allow: 'POST' });
    });
  }

  it('is not taken where a read lives, nor a read where it lives', async () => {
    const { url } = await serveEcho();
    const { status, headers } = await ask(url, post('{}', {}, LIST));
    expect({ status, allow: headers.get('allow') }).to.deep.equal({ status: 405, allow: 'GET, HEAD' });
    expect(headers.get('connection')).to.equal('close');
  });

  it('may have a body of maxBodyBytes', async () => {
    const { url } = await serveEcho();
    expect((await ask(url, post('x'.repeat(MAX_BYTES)))).status).to.equal(200);
  });

  it('is refused for a longer body, announced or not, before more of it is read', async () => {
    const { url, requests } = await serveEcho();
    const announced = openWire(url);
    announced.write(post('', { 'Content-Length': String(MAX_BYTES + 1), Expect: '100-continue' }));
    const [refused] = await announced.receive(1);
    expect(refused?.status).to.equal(413);
    announced.socket.destroy();
    const { status, json } = await ask(
      url,
      post(`${(MAX_BYTES + 1).toString(16)}\r\n${'x'.repeat(MAX_BYTES + 1)}\r\n0\r\n\r\n`, {
        'Transfer-Encoding': 'chunked',
      }),
    );
    expect({ status, code: json['code'] }).to.deep.equal({ status: 413, code: 'too_large' });
    expect(json['detail']).to.contain(String(MAX_BYTES));
    expect(requests).to.have.length(0);
  });

  it('that never ends its longer body is answered all the same, and closed', async () => {
    const { url } = await serveEcho();
    const wire = openWire(url);
    wire.write(post('', { 'Transfer-Encoding': 'chunked' }));
    wire.write(`${(MAX_BYTES + 1).toString(16)}\r\n${'x'.repeat(MAX_BYTES + 1)}\r\n`);
    const [answer] = await wire.closed();
    expect(answer?.status).to.equal(413);
    expect(answer?.headers.get('connection')).to.equal('close');
  });

  it('whose body comes too slowly is 408, and closed', async () => {
    const { url, access, requests } = await serveEcho(undefined, { headersTimeoutMs: 100, requestTimeoutMs: 100 });
    const wire = openWire(url);
    wire.write(post('{', { 'Content-Length': '10' }));
    const [answer] = await wire.closed();
    expect(answer?.status).to.equal(408);
    expect(JSON.parse(String(answer?.body))).to.include({ code: 'request_timeout' });
    expect((await access(1))[0]).to.include({ outcome: 'request_timeout', route: PATH });
    expect(requests).to.have.length(0);
  });

  it('whose chunks do not parse is 400, and closed', async () => {
    const { url, requests } = await serveEcho();
    const wire = openWire(url);
    wire.write(post('3\r\n{"a\r\nnonsense', { 'Transfer-Encoding': 'chunked' }));
    const [answer] = await wire.closed();
    expect(answer?.status).to.equal(400);
    expect(JSON.parse(String(answer?.body))).to.include({ code: 'invalid_request' });
    expect(requests).to.have.length(0);
  });

  it('that breaks off within its body is nobody any more', async () => {
    const { url, access, requests, lines } = await serveEcho();
    const wire = openWire(url);
    wire.write(post('{', { 'Content-Length': '10' }));
    await sleep(20);
    wire.socket.resetAndDestroy();
    expect((await access(1))[0]).to.include({ outcome: 'caller_gone', route: PATH, bytes: 0 });
    expect(requests).to.have.length(0);
    expect(lines().filter(({ level }) => level === 'error')).to.deep.equal([]);
  });
});

describe('a connection of an endpoint', () => {
  it('serves one request after the other', async () => {
    const { url } = await serveEcho();
    const wire = openWire(url);
    for (let count = 1; count <= 3; count += 1) {
      wire.write(post(`{"a":${count}}`));
      expect((await wire.receive(count)).at(-1)?.body.toString()).to.equal(`{"a":${count}}`);
    }
    wire.write(get(LIST));
    expect((await wire.receive(4)).at(-1)?.status).to.equal(200);
    wire.socket.destroy();
  });

  it('answers pipelined requests in order, refusals among them', async () => {
    const { url } = await serveEcho();
    const wire = openWire(url);
    wire.write(post('1') + post('2', { Authorization: undefined }) + get(LIST) + post('3'));
    const answers = await wire.receive(4);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 401, 200, 200]);
    expect([answers[0], answers[3]].map((answer) => answer?.body.toString())).to.deep.equal(['1', '3']);
    wire.socket.destroy();
  });

  it('closes with the listener once it is idle, and its body does not count as another request', async () => {
    const { url, server } = await serveEcho();
    const wire = openWire(url);
    wire.write(post('', { 'Content-Length': '2' }));
    await sleep(20);
    wire.write('{}');
    await wire.receive(1);
    const begun = performance.now();
    expect(await server.drain(5000)).to.equal(true);
    expect(performance.now() - begun).to.be.lessThan(4000);
  });

  it('is drained with the answer that is under way', async () => {
    const gate = Promise.withResolvers<void>();
    const { url, server, requests } = await serveEcho(() => gate.promise);
    const wire = openWire(url);
    wire.write(post('{}'));
    await until(() => requests.length === 1);
    const drained = server.drain(5000);
    await sleep(20);
    gate.resolve();
    const [answer] = await wire.closed();
    expect(answer?.status).to.equal(200);
    expect(answer?.headers.get('connection')).to.equal('close');
    expect(await drained).to.equal(true);
  });
});
