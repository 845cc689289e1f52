import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { turnsDuring } from '../../support/a-while.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { startProcess } from '../../support/process/process.ts';
import { callOf, readOf, rpc } from '../../support/rpc.ts';
import { errorOf } from '../reads/snapshots/departures.ts';
import { asked, CLIENT, loadOf, NO_HEADERS } from './asked.ts';
import { batchOf, DEPTHS, deep, everywhere, listOf } from './bounds/inputs.ts';

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

  for (const [what, name, expected] of [
    ['answers a batch of a hundred searches of 5 MB in a stored list', 'searches of a stored list', { reads: 1 }],
    [
      'answers a batch of a hundred searches of 5 MB in a list that is not stored',
      'searches of a list that is not stored',
      { reads: 1 },
    ],
    ['answers a hundred concurrent searches of 5 MB', 'searches at a time', {}],
    ['answers a hundred concurrent counts of long values in lists that are not stored', 'counts at a time', {}],
  ] as const) {
    it(what, async () => {
      expect(await figuresOf(name)).to.deep.include({ members: { ok: 100 }, ...expected });
    });
  }

  it('keeps nothing of the long names of two hundred clients', async () => {
    expect((await figuresOf('clients with long names', 64)).members).to.deep.equal({ ok: 200 });
  });

  it('answers a batch of a hundred reads of 20 MB up to maxAnswerBytes, with one read', async () => {
    const { bytes, mostHeldMiB, ...figures } = await figuresOf('reads of a list that is not stored');
    const members = { ok: 2, result_too_large: 98 };
    expect(figures).to.deep.equal({ members, reads: 1, outcome: 'result_too_large' });
    expect(bytes).to.be.below(67_108_864);
    expect(mostHeldMiB).to.be.within(20, 100);
  });

  it('answers thirty concurrent reads of 8 MB of different lists up to maxEscapingBytes', async () => {
    const { members, mostHeldMiB } = await figuresOf('reads at a time');
    expect(members).to.deep.equal({ ok: 4, overloaded: 26 });
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

describe('a batch', () => {
  const read = (index: number) => readOf(['projects', 'workflows'][index % 2] ?? '');
  const projects = () => readOf('projects');
  const codeOf = ({ error }: { error?: { data: { code: string } } }) => error?.data.code ?? 'ok';

  /** A batch whose answer may take so many bytes. */
  async function send(maxAnswerBytes: number, messages: readonly object[]) {
    const reads: string[] = [];
    const { raw } = asked({
      maxAnswerBytes,
      read: ({ name }) => {
        reads.push(name);
        return loadOf([toolItem('a')]);
      },
    });
    const { json, record } = await raw(JSON.stringify(messages));
    return { reads, json, record };
  }

  it('answers its members in order, one after the other', async () => {
    let working = 0;
    const { raw } = asked({
      read: async () => {
        working += 1;
        expect(working).to.equal(1);
        await new Promise((resolve) => setTimeout(resolve, 2));
        working -= 1;
        return loadOf([]);
      },
    });
    const { json } = await raw(JSON.stringify(batchOf(6, read)));
    expect(json.map(({ id }: { id: number }) => id)).to.deep.equal([0, 1, 2, 3, 4, 5]);
  });

  it('reads each resource once for all its methods, also when the read fails', async () => {
    const messages = [...batchOf(4, read), ...batchOf(4, () => callOf('list_projects', { query: 'a' }))];
    expect((await send(1_000_000, messages)).reads).to.deep.equal(['projects', 'workflows']);
    for (const throwing of ['at once', 'later']) {
      let reads = 0;
      const error = new GatewayError('upstream_timeout', { upstream: 'projects' });
      const { raw } = asked({
        read: () => {
          reads += 1;
          if (throwing === 'at once') throw error;
          return Promise.reject(error);
        },
      });
      const { json, bugs } = await raw(JSON.stringify(batchOf(5, projects)));
      expect(json.map(codeOf)).to.deep.equal(Array(5).fill('upstream_timeout'));
      expect({ reads, bugs }).to.deep.equal({ reads: 1, bugs: [] });
    }
  });

  it('has as many results as fit maxAnswerBytes, and errors in place of the others', async () => {
    const messages = batchOf(5, projects);
    const [one] = (await send(1024, messages.slice(0, 1))).json;
    const size = Buffer.byteLength(JSON.stringify(one));
    for (const [bound, fitting] of [
      [5 * size, 5],
      [5 * size - 1, 4],
      [2 * size, 2],
      [2 * size - 1, 1],
      [1, 1],
    ] as const) {
      const { json, record } = await send(bound, messages);
      const expected = messages.map(({ id }) => (id < fitting ? 'ok' : 'result_too_large'));
      expect(json.map(codeOf), String(bound)).to.deep.equal(expected);
      expect(record.error?.code).to.equal(fitting === 5 ? undefined : 'result_too_large');
    }
  });

  it('rejects a member that does not fit with advice, and does not process later ones', async () => {
    const { reads, json } = await send(1, batchOf(4, read));
    expect(reads).to.deep.equal(['projects', 'workflows']);
    const message = 'The responses to a batch can have at most 1 bytes together. Send this request again by itself.';
    const data = { code: 'result_too_large', requestId: 'request-of-the-test' };
    expect(json[1]).to.deep.equal({ jsonrpc: '2.0', id: 1, error: { code: -32602, message, data } });
  });

  it('shares the bytes of one snapshot between its members, stored or not', async () => {
    const load = listOf(1, false);
    const { raw } = asked({ read: () => load });
    const { pieces } = await raw(JSON.stringify(batchOf(20, projects)));
    expect(new Set(pieces.filter(({ length }) => length > 1_000_000)).size).to.equal(1);
  });

  it('yields to other requests between two members', async () => {
    expect(await turnsDuring(asked().raw(JSON.stringify(batchOf(50, () => rpc('ping')))))).to.be.at.least(49);
  });

  it('stops when the caller disconnects', async () => {
    const controller = new AbortController();
    let reads = 0;
    const { raw } = asked({
      read: async () => {
        reads += 1;
        controller.abort();
        return loadOf([]);
      },
    });
    const { signal } = controller;
    expect(await errorOf(raw(JSON.stringify(batchOf(5, read)), { signal }))).to.have.property('name', 'AbortError');
    expect(reads).to.equal(1);
  });
});

describe('a message', () => {
  /** One that holds so many objects, lists and members, and is longer than that. */
  const holding = (values: number) =>
    JSON.stringify(rpc('ping', { _meta: { a: Array.from({ length: values - 6 }, () => 'a,[{"') } }));

  it('may hold maxMessageValues values, and no more', async () => {
    const { raw } = asked({ maxMessageValues: 100 });
    expect((await raw(holding(100))).status).to.equal(200);
    const { status, json } = await raw(holding(101));
    expect(status).to.equal(413);
    expect(json.error).to.deep.include({ code: -32600 });
    expect(json.error.data).to.deep.include({ code: 'too_large' });
    expect(json.error.message).to.contain('100 objects, lists and members');
  });

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
          if (status !== 202 && pieces.length === 1)
            expect([answered.json].flat()[0], place).to.have.property('jsonrpc');
        }
      }
    });
  }

  it('too deep for capabilities is an error of the client', async () => {
    for (const value of [101, 3000, 100_000].flatMap(deep)) {
      const capabilities = { experimental: { a: { b: 'VALUE' } } };
      const message = rpc('initialize', { ...CLIENT, protocolVersion: '2025-11-25', capabilities });
      const { status, json } = await asked().raw(JSON.stringify(message).replace('"VALUE"', () => value));
      expect({ status, code: json.error.code }).to.deep.equal({ status: 200, code: -32602 });
    }
  });
});
