import { expect } from 'chai';
import type { HandleMessage } from '../../../../src/core/http/operations/rpc.ts';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { exchange, openConnection, requestText } from '../../../support/raw-http.ts';
import { expectNoUncaught, post, RPC, serveRpc } from '../served.ts';

async function serveEcho(mcp?: Parameters<typeof serveRpc>[2]) {
  const requests: Parameters<HandleMessage>[] = [];
  const handle: HandleMessage = (...request) => {
    requests.push(request);
    return { status: 200, headers: { 'Content-Type': 'text/plain' }, body: request[2] };
  };
  return { ...(await serveRpc(handle, {}, mcp)), requests };
}

describe('JSON-RPC', () => {
  expectNoUncaught();

  it('accepts a query, a slash at the end of its path, and media types with charset UTF-8', async () => {
    const { url } = await serveEcho();
    for (const [type, target] of [
      ['application/json', `${RPC}?a=b`],
      ['application/json', `${RPC}/`],
      ['Application/JSON; charset="UTF-8"', RPC],
      ['application/json ; charset=utf-8', RPC],
      ['application/json;', RPC],
      ['application/json; charset=utf-8;', RPC],
      ['application/json; profile="x; y"; charset=UTF-8', RPC],
      ['application/json;charset=utf-8; version=1', RPC],
    ] as const) {
      expect((await exchange(url, post('{}', { 'Content-Type': type }, target))).status, type).to.equal(200);
    }
  });
});

describe('a request for JSON-RPC', () => {
  for (const [what, fields, status, code] of [
    ['without a credential', { Authorization: undefined }, 401, 'credential_missing'],
    ['without a type', { 'Content-Type': undefined }, 415, 'unsupported_media_type'],
    ['of another type', { 'Content-Type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['of two types', { 'content-type': 'application/json' }, 415, 'unsupported_media_type'],
    ['of a type that only begins like JSON', { 'Content-Type': 'application/json5' }, 415, 'unsupported_media_type'],
    ['in another charset', { 'Content-Type': 'application/json; charset=utf-16' }, 415, 'unsupported_media_type'],
    [
      'in two charsets',
      { 'Content-Type': 'application/json; charset=utf-8; charset=x' },
      415,
      'unsupported_media_type',
    ],
    ['compressed', { 'Content-Encoding': 'gzip' }, 415, 'unsupported_media_type'],
    ['whose response may not be JSON', { Accept: 'text/html' }, 406, 'not_acceptable'],
  ] as const) {
    it(`is rejected ${what}, and the connection stays open`, async () => {
      const { url, requests } = await serveEcho();
      const response = await exchange(url, post('{}', fields));
      expect(response.json()).to.include({ status, code });
      expect(response.headers.get('connection')).to.equal('keep-alive');
      expect(requests).to.have.length(0);
    });
  }

  it('needs a credential, unless lists are public', async () => {
    const callers: Parameters<HandleMessage>[0]['caller'][] = [];
    const handle: HandleMessage = ({ caller }, _headers, body) => {
      callers.push(caller);
      if (caller === undefined) throw new GatewayError('credential_missing');
      return { status: 200, headers: {}, body };
    };
    const { url, ended } = await serveRpc(handle, {}, { publicLists: true });
    const connection = openConnection(url);
    for (const [authorization, status, code] of [
      [undefined, 401, 'credential_missing'],
      ['', 401, 'credential_malformed'],
      ['Basic YTpi', 401, 'credential_malformed'],
      ['Bearer ', 401, 'credential_malformed'],
      ['Bearer a', 200, 'ok'],
    ] as const) {
      connection.send(post('{}', { Authorization: authorization }));
      const response = await connection.receive();
      expect(response.status, authorization).to.equal(status);
      if (status === 401) expect(response.json()['code']).to.equal(code);
    }
    connection.send(post('{}', { authorization: 'Bearer b', Authorization: 'Bearer a' }));
    expect((await connection.receive()).json()['code']).to.equal('invalid_request');
    expect(callers.map((caller) => caller?.credential.reveal())).to.deep.equal([undefined, 'a']);
    const [first, , , , last] = await ended(6);
    expect(first).not.to.have.property('callerKey');
    expect(last).to.have.property('callerKey');
  });

  for (const method of ['GET', 'HEAD']) {
    it(`is 405 as a ${method} without a credential where lists are public`, async () => {
      const { url } = await serveEcho({ publicLists: true });
      expect((await exchange(url, requestText(method, RPC))).status).to.equal(405);
      const malformed = await exchange(url, requestText(method, RPC, { Authorization: 'Basic YTpi' }));
      expect(malformed.status).to.equal(401);
    });
  }
});
