import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { pbkdf2 } from 'node:crypto';
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { openDestination } from '../../../src/core/log/destination.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';

const line = (length: number, letter = 'x') => `${letter.repeat(length - 1)}\n`;

/** Has others take up the thread pool for some tenths of a second. */
function keepThreadPoolBusy(): Promise<unknown> {
  return Promise.all(Array.from({ length: 8 }, () => promisify(pbkdf2)('a', 'b', 200_000, 64, 'sha512')));
}

/** Whether there was room. */
function writeSome(fd: number): boolean {
  try {
    return writeSync(fd, 'x') === 1;
  } catch {
    return false;
  }
}

/** A pipe of 64 KiB. */
interface Pipe {
  readonly fd: number;
  /** Takes what is in it. */
  read(): string;
  /** Takes what comes, until there is enough. */
  readUntil(isEnough: (text: string) => boolean): Promise<string>;
}

describe('a log destination', () => {
  let folder = '';
  const open: number[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portico-'));
  });

  afterEach(async () => {
    mock.timers.reset();
    await rm(folder, { recursive: true });
  });

  // Not before all tests are over: a number that is free again would be the next pipe's, and the log of another test's.
  after(() => open.forEach(closeSync));

  /** Where the writing end does not block, whoever finds it full is told so. */
  function openPipe(writing = constants.O_NONBLOCK): Pipe {
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    const from = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const fd = openSync(path, constants.O_WRONLY | writing);
    open.push(from, fd);
    const buffer = Buffer.alloc(65_536);
    const read = () => {
      try {
        return buffer.toString('latin1', 0, readSync(from, buffer));
      } catch {
        return '';
      }
    };
    return {
      fd,
      read,
      async readUntil(isEnough) {
        let text = '';
        return eventually(() => {
          for (let more = read(); more !== ''; more = read()) text += more;
          return isEnough(text) ? text : undefined;
        });
      },
    };
  }

  it('writes lines together, in their order, a while after the first', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { fd, read } = openPipe();
    const destination = openDestination(fd);
    destination.write('a\n');
    destination.write('b\n');
    await new Promise(setImmediate);
    expect(read()).to.equal('');
    mock.timers.tick(100);
    await eventually(() => (read() === 'a\nb\n' ? true : undefined));
  });

  it('writes many lines at once, in their order', async () => {
    const { fd, readUntil } = openPipe();
    const destination = openDestination(fd);
    for (const letter of ['a', 'b', 'c', 'd']) destination.write(line(31_000, letter));
    const lines = ['a', 'b', 'c', 'd'].map((letter) => line(31_000, letter)).join('');
    expect(await readUntil(({ length }) => length >= lines.length)).to.equal(lines);
  });

  it('keeps long lines out of memory that others use', async () => {
    const path = join(folder, 'log');
    const destination = openDestination(openSync(path, 'a'));
    const others: Buffer[] = [];
    let expected = '';
    const write = async (lines: readonly string[]) => {
      for (const one of lines) destination.write(one);
      expected += lines.join('');
      await eventually(async () => (await readFile(path, 'utf8')).length === expected.length);
    };
    // Of lengths that Node has room for in the memory which it hands out in pieces.
    for (const length of [22_000, 25_000, 30_000]) {
      await write([line(length, 'l')]);
      others.push(...Array.from({ length: 300 }, () => Buffer.from('o'.repeat(150))));
      await write(Array.from({ length: 1000 }, () => line(150, 's')));
    }
    await destination.close();
    expect(await readFile(path, 'utf8')).to.equal(expected);
    for (const other of others) expect(other.toString()).to.equal('o'.repeat(150));
  });

  it('goes on after more than may wait at once', async () => {
    const path = join(folder, 'log');
    const destination = openDestination(openSync(path, 'a'));
    for (let written = 1; written <= 6; written += 1) {
      for (let count = 0; count < 1024; count += 1) destination.write(line(1024));
      await eventually(async () => (await stat(path)).size === written * 1_048_576);
    }
    await destination.close();
    expect(destination.droppedLines).to.equal(0);
  });

  it('waits for a pipe that is full, and goes on where a write ended early', async () => {
    const { fd, readUntil } = openPipe();
    const destination = openDestination(fd);
    const lines = ['a', 'b', 'c'].map((letter) => line(70_000, letter)).join('');
    for (const letter of ['a', 'b', 'c']) destination.write(line(70_000, letter));
    expect(await readUntil(({ length }) => length >= lines.length)).to.equal(lines);
  });

  it('drops what is beyond 4 MiB for a slow reader, and says how many lines', async () => {
    const { fd, readUntil } = openPipe();
    const destination = openDestination(fd);
    const sent = 200;
    for (let count = 0; count < sent; count += 1) destination.write(line(50_000));
    const toldIn = (text: string) =>
      [...text.matchAll(/^\{.*\}$/gm)].map(([one]) => JSON.parse(one) as { lines: number; time: string });
    const countIn = (text: string) =>
      toldIn(text).reduce((sum, { lines }) => sum + lines, text.split('x\n').length - 1);
    const text = await readUntil((soFar) => countIn(soFar) >= sent);
    expect(countIn(text)).to.equal(sent);
    const kept = text.split('x\n').length - 1;
    // What the pipe itself had room for is held no more.
    expect(kept).to.be.within(Math.floor(4_194_304 / 50_000), Math.floor((4_194_304 + 65_536) / 50_000) + 1);
    const [{ time, ...told } = { time: '' }] = toldIn(text);
    expect(told).to.deep.equal({
      level: 'warn',
      lines: sent - kept,
      msg: 'log lines dropped',
    });
    expect(time).to.match(/^\d{4}-\d\d-\d\dT/);
    expect(destination.droppedLines).to.equal(sent - kept);
    destination.write('after\n');
    expect(await readUntil((soFar) => soFar !== '')).to.equal('after\n');
  });

  it('has all in its place before the process goes on, when it must be', async () => {
    const path = join(folder, 'log');
    const fd = openSync(path, 'w');
    open.push(fd);
    const destination = openDestination(fd);
    const others = keepThreadPoolBusy();
    destination.write(line(70_000, 'a'));
    destination.write('last\n');
    destination.flushSync(60_000);
    expect(await readFile(path, 'utf8')).to.equal(`${line(70_000, 'a')}last\n`);
    await others;
  });

  it('waits for what the thread pool has, also where it was told before not to wait', async () => {
    const path = join(folder, 'log');
    const fd = openSync(path, 'w');
    open.push(fd);
    const destination = openDestination(fd);
    const others = keepThreadPoolBusy();
    destination.write(line(70_000, 'a'));
    destination.write(line(80_000, 'b'));
    destination.flushSync(0);
    destination.write('last\n');
    destination.flushSync(60_000);
    // Either of the two may come first, and none after the last one.
    const [a, b] = [line(70_000, 'a'), line(80_000, 'b')];
    expect(await readFile(path, 'utf8')).to.be.oneOf([`${b}${a}last\n`, `${a}${b}last\n`]);
    await others;
  });

  it('waits once for a reader who does not read when it must be, and not at all when told so', async () => {
    const { fd, read } = openPipe();
    while (writeSome(fd)) {}
    const destination = openDestination(fd);
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
    waits.mock.restore();
    while (read() !== '') {}
    destination.write('third\n');
    destination.flushSync();
    expect(read()).to.equal('third\n');
  });

  it('forgets all that it could not write in time, however much that is', async () => {
    const { fd, read } = openPipe();
    const destination = openDestination(fd);
    // More than may wait, all together.
    for (let times = 0; times < 50; times += 1) {
      for (let count = 0; count < 1000; count += 1) destination.write(line(300, 'f'));
      destination.flushSync(0);
      while (read() !== '') {}
    }
    expect(destination.droppedLines).to.equal(0);
    destination.write('next\n');
    destination.flushSync();
    expect(read()).to.equal('next\n');
  });

  it('goes on in a pipe with what it was at, when it must be', async () => {
    const { fd } = openPipe();
    const out = join(folder, 'out');
    const destination = openDestination(fd);
    const lines = Array.from({ length: 1000 }, (_, index) => `${String(index).padStart(4, '0')} ${line(295)}`);
    for (const one of lines) destination.write(one);
    const reader = spawn('sh', ['-c', `exec cat ${join(folder, 'pipe')} > ${out}`]);
    onCleanup(() => reader.kill());
    // It reads while this process stands still.
    destination.flushSync(10_000);
    await eventually(async () => (await readFile(out, 'utf8')).length >= lines.join('').length);
    expect(await readFile(out, 'utf8')).to.equal(lines.join(''));
  });

  /** Runs statements with a `destination` in a process of their own, which a wait without end would not let go. */
  function runAlone(openFd: string, statements: string): string {
    const script = `
      import { execFileSync } from 'node:child_process';
      import { closeSync, constants, openSync } from 'node:fs';
      import { openDestination } from ${JSON.stringify(new URL('../../../src/core/log/destination.ts', import.meta.url).href)};
      const openPipe = () => {
        execFileSync('mkfifo', [${JSON.stringify(join(folder, 'alone'))}]);
        const from = openSync(${JSON.stringify(join(folder, 'alone'))}, constants.O_RDONLY | constants.O_NONBLOCK);
        return { from, fd: openSync(${JSON.stringify(join(folder, 'alone'))}, constants.O_WRONLY | constants.O_NONBLOCK) };
      };
      ${openFd}
      const destination = openDestination(fd);
      ${statements}
      process.stdout.write('went on');
    `;
    const { stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], {
      timeout: 20_000,
      encoding: 'utf8',
    });
    return stdout + stderr;
  }

  for (const [place, openFd] of [
    ['has no reader any more', 'const { from, fd } = openPipe(); closeSync(from);'],
    ['has a reader who does not read', `const { fd } = openPipe();`],
    ['is not there', 'const fd = 1_000_000;'],
  ] as const) {
    it(`lets the process go on and end where the place to write to ${place}`, () => {
      const writes = `for (let count = 0; count < 20; count += 1) destination.write('x'.repeat(9999) + '\\n');`;
      expect(
        runAlone(
          openFd,
          `${writes} destination.flushSync(); destination.write('more'); process.exitCode = 0; setImmediate(() => process.exit());`,
        ),
      ).to.equal('went on');
    }).timeout(30_000);
  }

  it('forgets lines once nobody reads them any more', async () => {
    const wait = `await new Promise((resolve) => setTimeout(resolve, 300));`;
    const writes = `for (let count = 0; count < 50_000; count += 1) destination.write('x'.repeat(999) + '\\n');`;
    const heap = `if (process.memoryUsage().arrayBuffers > 4_000_000) console.log('kept');`;
    expect(
      runAlone(
        'const { from, fd } = openPipe(); closeSync(from);',
        `${writes} ${wait} ${writes} ${wait} globalThis.gc(); ${heap}`,
      ),
    ).to.equal('went on');
  }).timeout(30_000);

  describe('of a file that is moved away', () => {
    const openFile = (name: string) => openSync(join(folder, name), 'a');
    const textOf = (name: string) => readFile(join(folder, name), 'utf8');

    it('goes on in the next one, and closes the one before', async () => {
      const before = openFile('before');
      const destination = openDestination(before);
      destination.write(line(100, 'a'));
      destination.flushSync();
      destination.switchTo(openFile('after'));
      expect(() => writeSync(before, 'x')).to.throw('EBADF');
      destination.write(line(100, 'b'));
      await destination.close();
      expect(await textOf('before')).to.equal(line(100, 'a'));
      expect(await textOf('after')).to.equal(line(100, 'b'));
    });

    it('never ends one in the middle of a line, however much is under way', async () => {
      const destination = openDestination(openFile('file-0'));
      const lines = Array.from({ length: 3000 }, (_, index) => line(200, String(index % 10)));
      for (const [index, one] of lines.entries()) {
        destination.write(one);
        if (index % 500 === 499) {
          destination.switchTo(openFile(`file-${(index + 1) / 500}`));
          await new Promise(setImmediate);
        }
      }
      await destination.close();
      const texts = await Promise.all([0, 1, 2, 3, 4, 5, 6].map((index) => textOf(`file-${index}`)));
      expect(texts.join('')).to.equal(lines.join(''));
      for (const text of texts) expect(text === '' || text.endsWith('\n')).to.equal(true);
    });

    it('leaves one that is full at once, in the next with the whole of the line that it was at', async () => {
      const path = join(folder, 'pipe');
      execFileSync('mkfifo', [path]);
      const from = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      open.push(from);
      const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
      // So that there is room for some of a batch.
      writeSync(fd, line(1050));
      const destination = openDestination(fd);
      const lines = Array.from({ length: 1000 }, (_, index) => `${String(index).padStart(4, '0')} ${line(95)}`);
      for (const one of lines) destination.write(one);
      destination.switchTo(openFile('after'));
      await eventually(async () => (await textOf('after')).endsWith(lines.at(-1) ?? ''));
      await destination.close();
      const buffer = Buffer.alloc(131_072);
      const text = buffer.toString('latin1', 0, readSync(from, buffer));
      const whole = text.slice(0, text.lastIndexOf('\n') + 1);
      expect(text.length).to.be.greaterThan(whole.length);
      expect(whole + (await textOf('after'))).to.equal(line(1050) + lines.join(''));
    });

    it('is told once of each time that it cannot be written', async () => {
      const failures: unknown[] = [];
      const destination = openDestination(openSync('/dev/full', 'a'), { onFailure: (code) => failures.push(code) });
      for (let count = 0; count < 3; count += 1) destination.write(line(100));
      await eventually(() => failures.length > 0);
      destination.switchTo(openFile('after'));
      await eventually(async () => (await textOf('after')) === line(100).repeat(3));
      await destination.close();
      expect(failures).to.deep.equal(['ENOSPC']);
    });

    it('is closed in the end, though it never could be written', async () => {
      const fd = openSync('/dev/full', 'a');
      const destination = openDestination(fd);
      destination.write(line(100));
      await destination.close();
      expect(() => writeSync(fd, 'x')).to.throw('EBADF');
      destination.write(line(100));
    });
  });
});
