import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { createEncoder } from '../../../../src/core/reads/representations/encoder.ts';
import { errorOf, never } from '../snapshots/departures.ts';

/** Takes a while to compress. */
const large = () => Buffer.alloc(4_000_000, 'a few words ');

describe('compression', () => {
  it('is done for so many at once, and the others in the order in which they came', async () => {
    const encode = createEncoder(1);
    const done: string[] = [];
    const all = ['first', 'second', 'third'].map((name) =>
      // The smaller ones would be done first, if they were not waiting.
      encode(name === 'first' ? large() : Buffer.from(name), 'gzip', () => done.push(name), never),
    );
    expect((await Promise.all(all)).slice(1).map((coded) => gunzipSync(coded).toString())).to.deep.equal([
      'second',
      'third',
    ]);
    expect(done).to.deep.equal(['first', 'second', 'third']);
  });

  it('never begins for whom nobody waits any more, and may be asked for again', async () => {
    const encode = createEncoder(1);
    const done: string[] = [];
    const first = encode(large(), 'gzip', () => done.push('first'), never);
    const leaving = [new AbortController(), new AbortController()];
    const bytes = Buffer.from('second');
    const left = leaving.map(({ signal }) => errorOf(encode(bytes, 'zstd', () => done.push('left'), signal)));
    const third = encode(Buffer.from('third'), 'gzip', () => done.push('third'), never);
    const gone = new Error('gone');
    for (const one of leaving) one.abort(gone);
    expect(await Promise.all(left)).to.deep.equal([gone, gone]);
    await encode(bytes, 'zstd', () => done.push('again'), never);
    await Promise.all([first, third]);
    expect(done).to.deep.equal(['first', 'third', 'again']);
  });

  it('goes on for who stays, and to its end once it has begun', async () => {
    const encode = createEncoder(1);
    const made = Promise.withResolvers<Buffer>();
    const leaving = new AbortController();
    const bytes = large();
    const left = errorOf(encode(bytes, 'gzip', made.resolve, leaving.signal));
    const staying = encode(bytes, 'gzip', () => expect.fail('made twice'), never);
    leaving.abort();
    await left;
    expect(await staying).to.equal(await made.promise);
    const second = new AbortController();
    const alone = Promise.withResolvers<Buffer>();
    const hasLeft = errorOf(encode(large(), 'gzip', alone.resolve, second.signal));
    second.abort();
    await hasLeft;
    expect(gunzipSync(await alone.promise)).to.have.length(4_000_000);
  });

  it('begins for nobody who is gone already', async () => {
    const encode = createEncoder(1);
    const gone = new Error('gone');
    const done: string[] = [];
    const left = encode(Buffer.from('x'), 'gzip', () => done.push('gone'), AbortSignal.abort(gone));
    expect(await errorOf(left)).to.equal(gone);
    await encode(Buffer.from('y'), 'gzip', () => done.push('here'), never);
    expect(done).to.deep.equal(['here']);
  });

  it('begins where one of those who wait stays', async () => {
    const encode = createEncoder(1);
    const first = encode(large(), 'gzip', () => {}, never);
    const bytes = Buffer.from('second');
    const leaving = new AbortController();
    const left = errorOf(encode(bytes, 'gzip', () => {}, leaving.signal));
    const staying = encode(bytes, 'gzip', () => {}, never);
    leaving.abort();
    await left;
    expect(gunzipSync(await staying).toString()).to.equal('second');
    await first;
  });
});
