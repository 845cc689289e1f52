import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import { expect } from 'chai';
import { createDestination } from '../../../src/core/log/destination.ts';
import { eventually } from '../../support/eventually.ts';
import { newFolder } from '../../support/process/process.ts';

const line = (length: number, letter = 'x') => `${letter.repeat(length - 1)}\n`;

describe('a log destination', () => {
  let folder = '';
  const open: number[] = [];
  const inFolder = (name: string) => join(folder, name);

  beforeEach(async () => {
    folder = await newFolder();
  });

  afterEach(() => {
    mock.restoreAll();
    mock.timers.reset();
  });

  // After all tests: a descriptor that is free again could be another test's.
  after(() => open.forEach(closeSync));

  /** Opens a pipe of 64 KiB whose writing end does not block. */
  function openPipe() {
    execFileSync('mkfifo', [inFolder('pipe')]);
    const from = openSync(inFolder('pipe'), constants.O_RDONLY | constants.O_NONBLOCK);
    const fd = openSync(inFolder('pipe'), constants.O_WRONLY | constants.O_NONBLOCK);
    open.push(from);
    const buffer = Buffer.alloc(65_536);
    function read(): string {
      try {
        return buffer.toString('latin1', 0, readSync(from, buffer));
      } catch {
        return '';
      }
    }
    async function readUntil(isEnough: (text: string) => boolean): Promise<string> {
      let text = '';
      return eventually(() => {
        for (let more = read(); more !== ''; more = read()) text += more;
        return isEnough(text) ? text : undefined;
      });
    }
    return { fd, read, readUntil };
  }

  it('writes lines together, in their order, 100 ms after the first', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { fd, read } = openPipe();
    const destination = createDestination(fd);
    destination.write('a\n');
    destination.write('b\n');
    await new Promise(setImmediate);
    expect(read()).to.equal('');
    mock.timers.tick(100);
    expect(read()).to.equal('a\nb\n');
  });

  it('waits while a pipe is full, and continues where a write ended early', async () => {
    const { fd, readUntil } = openPipe();
    const destination = createDestination(fd);
    const lines = ['a', 'b', 'c'].map((letter) => line(70_000, letter));
    for (const one of lines) destination.write(one);
    expect(await readUntil(({ length }) => length >= 210_000)).to.equal(lines.join(''));
  });

  it('counts the lines that no reader is left for', () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { fd } = openPipe();
    const destination = createDestination(fd);
    closeSync(open.pop() ?? -1);
    destination.write('first\n');
    mock.timers.tick(100);
    destination.write('second\n');
    destination.write('third\n');
    expect(destination.droppedLines()).to.equal(2);
  });

  it('waits for a reader at the end for a bounded time, then drops the rest', () => {
    const { fd, read } = openPipe();
    expect(() => {
      for (;;) writeSync(fd, 'x');
    }).to.throw('EAGAIN');
    const destination = createDestination(fd);
    const waits = mock.method(Atomics, 'wait');
    destination.write('first\n');
    destination.flushSync(0);
    expect(waits.mock.callCount()).to.equal(0);
    destination.write('second\n');
    destination.flushSync();
    const waited = waits.mock.callCount();
    expect(waited).to.be.greaterThan(0);
    destination.flushSync();
    expect(waits.mock.callCount()).to.equal(waited);
    while (read() !== '') {}
    destination.write('third\n');
    destination.flushSync();
    expect(read()).to.equal('third\n');
  });
});
