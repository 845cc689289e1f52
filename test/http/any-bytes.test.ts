import { expect } from 'chai';
import fc from 'fast-check';
import { closeAll, LIST, READ, serve } from './served.ts';
import { ask, get, openWire } from './wire.ts';

const PIECES = [
  'GET ',
  'POST ',
  'CONNECT ',
  LIST,
  READ,
  ' HTTP/1.1\r\n',
  'Host: localhost\r\n',
  'Authorization: Bearer t\r\n',
  'Content-Length: 3\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Expect: 100-continue\r\n',
  'Connection: close\r\n',
  'Connection: Upgrade\r\nUpgrade: x\r\n',
  'Accept-Encoding: identity;q=0\r\n',
  'If-None-Match: *\r\n',
  '\r\n',
  'abc',
  '3\r\nabc\r\n',
  '0\r\n\r\n',
  '\0',
  get(LIST),
  get(READ),
];

const STATUSES = [102, 200, 304, 400, 401, 404, 405, 406, 408, 421];

describe('whatever bytes arrive', () => {
  afterEach(closeAll);

  it('they are answered with whole answers, and nothing goes wrong inside', async () => {
    const { url, lines } = await serve();
    const bytes = fc
      .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 12 })
      .map((pieces) => pieces.join(''));
    await Promise.all(
      fc.sample(bytes, 300).map(async (sent) => {
        const wire = openWire(url);
        wire.socket.end(sent, 'latin1');
        const answers = await wire.closed();
        const whole = answers.reduce((total, { size }) => total + size, 0);
        expect(wire.socket.bytesRead, JSON.stringify(sent)).to.equal(whole);
        for (const { status } of answers) expect(status, JSON.stringify(sent)).to.be.oneOf(STATUSES);
      }),
    );
    expect((await ask(url, get(LIST))).status).to.equal(200);
    expect(lines().filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('a request is the same in whatever pieces it comes', async () => {
    const { url } = await serve();
    const request = get(LIST) + get('/nothing') + get(READ);
    const cuts = fc
      .array(fc.nat(request.length), { maxLength: 8 })
      .map((at) => [0, ...at.sort((a, b) => a - b), request.length]);
    await fc.assert(
      fc.asyncProperty(cuts, async (at) => {
        const wire = openWire(url);
        for (const [index, end] of at.slice(1).entries()) {
          wire.write(request.slice(at[index], end));
          await new Promise(setImmediate);
        }
        const statuses = (await wire.receive(3)).map(({ status }) => status);
        wire.socket.destroy();
        return statuses.join() === '200,404,200';
      }),
      { numRuns: 50 },
    );
  });
});
