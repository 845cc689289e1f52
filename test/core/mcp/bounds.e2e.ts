import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { startProcess } from '../../support/process/process.ts';
import { asked, NO_HEADERS } from './asked.ts';
import { DEPTHS, deep, everywhere } from './bounds/inputs.ts';

const CHILD = fileURLToPath(new URL('bounds/child.ts', import.meta.url));

/** What a case comes to in a process of its own, with such a heap. */
async function figuresOf(name: string, heapMiB = 256) {
  const { code, signal, stdout, stderr } = await startProcess(process.execPath, [
    `--max-old-space-size=${heapMiB}`,
    '--expose-gc',
    CHILD,
    name,
  ]).ended;
  expect({ code, signal }, stderr.slice(0, 2000)).to.deep.equal({ code: 0, signal: null });
  return JSON.parse(stdout);
}

describe('MCP with a heap of 256 MiB', function () {
  this.timeout(90_000);

  for (const [what, name] of [
    ['a hundred concurrent searches of 5 MB', 'searches at a time'],
    ['a hundred concurrent counts of long values in lists that are not stored', 'counts at a time'],
  ] as const) {
    it(`answers ${what}`, async () => {
      expect(await figuresOf(name)).to.deep.equal({ answers: { ok: 100 } });
    });
  }

  it('keeps nothing of the long names of two hundred clients', async () => {
    expect((await figuresOf('clients with long names', 64)).answers).to.deep.equal({ ok: 200 });
  });

  it('answers thirty concurrent reads of 8 MB of different lists up to maxEscapingBytes', async () => {
    const { answers, mostHeldMiB } = await figuresOf('reads at a time');
    expect(answers).to.deep.equal({ ok: 4, overloaded: 26 });
    expect(mostHeldMiB).to.be.within(16, 100);
  });
});

describe('the longest turn of the event loop', () => {
  it('does not depend on the length of a list or the width of a message', async () => {
    const { unit, bound, longest } = await figuresOf('turns', 1024);
    const tooLong = Object.entries<number>(longest).filter(([, ms]) => ms > bound);
    expect(tooLong, `parsing 1 MiB takes ${unit} ms`).to.deep.equal([]);
    expect(Object.keys(longest)).to.have.length.above(50);
  }).timeout(90_000);
});

describe('a message', () => {
  it('is counted before it is parsed', async () => {
    const { raw } = asked({ maxMessageValues: 100 });
    expect((await raw(`${'['.repeat(101)}nonsense`)).status).to.equal(413);
    expect((await raw(`${'['.repeat(99)}nonsense`)).status).to.equal(400);
  });
});

describe('an error', () => {
  it('repeats at most 2,048 characters of a URI or revision', async () => {
    const long = 'x'.repeat(900_000);
    const { earlier } = asked();
    const unknown = await earlier('resources/read', { uri: long });
    expect(unknown.json.error.data).to.include({ code: 'resource_unknown', uri: 'x'.repeat(2048) });
    const headers = { ...NO_HEADERS, protocolVersion: '1999-01-01' };
    const unsupported = await earlier('ping', { protocolVersion: long }, { headers });
    expect(unsupported.json.error.data).to.include({ code: 'version_unsupported', requested: 'x'.repeat(2048) });
  });
});

describe('a message that is nested', () => {
  for (const depth of DEPTHS) {
    it(`${depth} deep is answered, wherever that is`, async () => {
      const { raw } = asked();
      for (const value of deep(depth)) {
        for (const { place, body, headers } of everywhere(value)) {
          const answered = await raw(body, { headers });
          const { status, pieces, bugs } = answered;
          expect(bugs, place).to.deep.equal([]);
          expect([200, 202, 400, 404], place).to.include(status);
          const bytes = pieces.reduce((total, { length }) => total + length, 0);
          expect(bytes, place).to.be.below(2000);
          if (status !== 202 && pieces.length === 1) expect(answered.json, place).to.have.property('jsonrpc');
        }
      }
    });
  }
});
