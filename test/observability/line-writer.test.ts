import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLineWriter, type LineWriterOptions } from '../../src/observability/line-writer.ts';
import { until } from '../http/until.ts';

type Done = Parameters<NonNullable<LineWriterOptions['write']>>[3];

/** A place to write to whose writes end when a test says so. */
function slowPlace() {
  const writes: { readonly text: string; readonly done: Done }[] = [];
  const writer = createLineWriter({
    fd: -1,
    write: (_fd, bytes, offset, done) => {
      writes.push({ text: bytes.subarray(offset).toString(), done });
    },
  });
  return { writer, writes };
}

const line = (length: number, letter = 'x') => `${letter.repeat(length - 1)}\n`;

describe('lines', () => {
  it('are written together, in their order, soon after the first', async () => {
    const { writer, writes } = slowPlace();
    writer.write('a\n');
    writer.write('b\n');
    expect(writes).to.deep.equal([]);
    await until(() => writes.length === 1);
    expect(writes[0]?.text).to.equal('a\nb\n');
  });

  it('are written at once where they are many, one write at a time', () => {
    const { writer, writes } = slowPlace();
    writer.write(line(40_000, 'a'));
    writer.write(line(40_000, 'b'));
    writer.write(line(70_000, 'c'));
    expect(writes.map(({ text }) => text.length)).to.deep.equal([80_000]);
    writes[0]?.done(null, 80_000);
    expect(writes.map(({ text }) => text.length)).to.deep.equal([80_000, 70_000]);
  });

  it('go on where a write ended early', () => {
    const { writer, writes } = slowPlace();
    writer.write(line(70_000));
    writes[0]?.done(null, 69_998);
    expect(writes[1]?.text).to.equal('x\n');
  });

  it('wait for a pipe that is full', async () => {
    const { writer, writes } = slowPlace();
    writer.write(line(70_000));
    writes[0]?.done(Object.assign(new Error('full'), { code: 'EAGAIN' }), 0);
    await until(() => writes.length === 2);
    expect(writes[1]?.text).to.equal(line(70_000));
  });

  it('are dropped beyond what is held for a slow reader, which is told in a line of its own', async () => {
    const { writer, writes } = slowPlace();
    writer.write(line(70_000));
    for (let index = 0; index < 100; index += 1) writer.write(line(50_000));
    writes[0]?.done(null, 70_000);
    const held = writes[1]?.text ?? '';
    expect(held.length).to.be.within(4_100_000, 4_200_000);
    const last = JSON.parse(held.trimEnd().split('\n').at(-1) ?? '');
    expect(last).to.include({ level: 'warn', msg: 'log lines dropped', lines: 100 - 83 });
  });

  it('are forgotten once nobody reads them any more', async () => {
    const { writer, writes } = slowPlace();
    writer.write(line(70_000));
    writes[0]?.done(Object.assign(new Error('gone'), { code: 'EPIPE' }), 0);
    writer.write(line(70_000));
    writer.flushSync();
    expect(writes).to.have.length(1);
  });

  it('are in their place before the process goes on, when they must be', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'portico-'));
    const fd = openSync(join(folder, 'log'), 'w');
    try {
      const writer = createLineWriter({ fd });
      writer.write(line(70_000, 'a'));
      writer.write('last\n');
      writer.flushSync();
      expect(await readFile(join(folder, 'log'), 'utf8')).to.equal(`${line(70_000, 'a')}last\n`);
    } finally {
      closeSync(fd);
      await rm(folder, { recursive: true });
    }
  });

  it('are lost, and nothing else is, where the place to write to is gone', () => {
    const writer = createLineWriter({ fd: 1_000_000 });
    writer.write('a\n');
    expect(() => writer.flushSync()).not.to.throw();
  });
});
