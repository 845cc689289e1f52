import { expect } from 'chai';
import fc from 'fast-check';
import { BadReply, createReplyCheck } from '../../../../src/capabilities/shared-cache/redis/replies.ts';
import { SEEDED } from '../../../support/seed.ts';

const MAX_BYTES = 2000;

type Reply = string | number | null | Buffer | Error | readonly Reply[];

function encode(reply: Reply): Buffer {
  if (reply === null) return Buffer.from('$-1\r\n');
  if (reply instanceof Error) return Buffer.from(`-${reply.message}\r\n`);
  if (typeof reply === 'number') return Buffer.from(`:${reply}\r\n`);
  if (typeof reply === 'string') return Buffer.from(`+${reply}\r\n`);
  if (Buffer.isBuffer(reply)) {
    return Buffer.concat([Buffer.from(`$${reply.length}\r\n`), reply, Buffer.from('\r\n')]);
  }
  const elements = reply as readonly Reply[];
  return Buffer.concat([Buffer.from(`*${elements.length}\r\n`), ...elements.map(encode)]);
}

/** Cuts bytes where it is told to, and there alone. */
function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const ends = [...at.map((place) => place % (bytes.length + 1)), bytes.length].sort((one, other) => one - other);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

/** How a check finds bytes, shown whole and one by one. */
function refusals(bytes: Buffer | string, maxBytes = MAX_BYTES): readonly (string | undefined)[] {
  const all = Buffer.from(bytes as string);
  return [[all], [...all].map((byte) => Buffer.of(byte))].map((chunks) => {
    const check = createReplyCheck({ maxBytes });
    try {
      for (const chunk of chunks) check(chunk);
    } catch (error) {
      expect(error).to.be.instanceOf(BadReply);
      return (error as BadReply).message;
    }
    return undefined;
  });
}

const text = fc.stringMatching(/^[ -~]{0,20}$/);
const leaf: fc.Arbitrary<Reply> = fc.oneof(
  text,
  text.map((message) => new Error(message)),
  fc.constant(null),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
);
const replies = fc.array(
  fc.letrec<{ reply: Reply }>((tie) => ({
    reply: fc.oneof({ maxDepth: 4, depthSize: 'small' }, leaf, fc.array(tie('reply'), { maxLength: 4 })),
  })).reply,
  { maxLength: 4 },
);

describe('what Redis sends', () => {
  it(`passes where it is replies, in whatever pieces they come ${SEEDED}`, () => {
    fc.assert(
      fc.property(replies, fc.array(fc.nat(), { maxLength: 10 }), (all, places) => {
        const check = createReplyCheck({ maxBytes: 65_536 });
        for (const piece of cut(Buffer.concat(all.map(encode)), places)) check(piece);
      }),
    );
  });

  it(`does not pass where it is longer than it may be, whatever it is made of ${SEEDED}`, () => {
    fc.assert(
      fc.property(replies, (all) => {
        const bytes = encode(all);
        expect(refusals(bytes, bytes.length)).to.deep.equal([undefined, undefined]);
        for (const refusal of refusals(bytes, bytes.length - 1)) expect(refusal).to.be.a('string');
      }),
    );
  });

  for (const [what, bytes, refusal] of [
    ['an HTTP server', 'HTTP/1.1 400 Bad Request\r\n', 'of another kind'],
    ['a map of version 3', '%1\r\n+a\r\n+b\r\n', 'of another kind'],
    ['a large number of version 3', `(${'9'.repeat(100)}\r\n`, 'of another kind'],
    ['something pushed', '>1\r\n+a\r\n', 'of another kind'],
    ['a number of letters', ':a\r\n', 'no number'],
    ['no number', ':\r\n', 'no number'],
    ['a number that is too long', `:${'1'.repeat(21)}`, 'no number'],
    ['two signs', ':--1\r\n', 'no number'],
    ['a length below none', '$-2\r\n', 'no length'],
    ['none in another way', '*-01\r\n', 'no length'],
    ['a line with half an end', ':1\rx', 'without an end'],
    ['a value without an end', '$1\r\nab\r\n', 'without an end'],
    ['a text over two lines', '+a\nb\r\n', 'no line'],
    ['a text without an end', `-${'x'.repeat(16_385)}`, 'no line'],
    ['a value that is too long', `$${MAX_BYTES}\r\n`, 'too long'],
    ['a value without an end of its own', '$1000000000000000000\r\n', 'too long'],
    ['an array without an end of its own', '*2147483647\r\n', 'too many elements'],
    ['arrays that take much room together', '*30000\r\n*30000\r\n*30000\r\n', 'too many elements'],
    ['arrays within arrays', '*1\r\n'.repeat(7), 'too many elements'],
    ['slots that no cluster has', '*1\r\n*3\r\n:0\r\n:16384\r\n', 'no slot'],
    ['a slot below the first', '*1\r\n*3\r\n:-1\r\n', 'no slot'],
    ['slots twice', '*2\r\n*2\r\n:0\r\n:16383\r\n*2\r\n:1\r\n:1\r\n', 'too many slots'],
  ] as const) {
    it(`does not pass where it is ${what}`, () => {
      expect(refusals(bytes, what === 'a text without an end' ? 65_536 : MAX_BYTES)).to.deep.equal([refusal, refusal]);
    });
  }

  it('passes with all slots of a cluster, each by itself, and with what is counted', () => {
    const node = [Buffer.from('127.0.0.1'), 65_535, Buffer.from('id'), []];
    const slots = Array.from({ length: 8000 }, (_, slot) => [2 * slot, 2 * slot + 1, node]);
    const counted = [Buffer.from('word'), Buffer.from('ok'), [[Number.MAX_SAFE_INTEGER, -1]]];
    const all = Buffer.concat([encode(slots), encode(counted)]);
    expect(refusals(all, 2_097_152)).to.deep.equal([undefined, undefined]);
  });
});
