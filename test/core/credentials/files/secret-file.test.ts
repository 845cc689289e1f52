import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSecretFile } from '../../../../src/core/credentials/files/secret-file.ts';
import { UnusableFile } from '../../../../src/core/credentials/files/watched-files.ts';
import { newFolder } from '../../../support/process/process.ts';
import { thrownBy } from '../../../support/thrown.ts';

const never = new AbortController().signal;
const SECOND = 1000;
const UNPRINTABLE = 'must contain one line of printable ASCII without surrounding white space';

/** A file that is open, and a clock that goes on only when it is told to. */
function open(path: string) {
  const clock = { now: Date.now() };
  const told: (string | undefined)[] = [];
  const opened = openSecretFile(path, { now: () => clock.now, onChange: (unusable) => told.push(unusable?.issue) });
  const read = async () => (await opened.current(never)).reveal();
  return {
    clock,
    told,
    read,
    opened,
    /** What is there once the file has been left alone for long. */
    async later(ms = 10 * SECOND) {
      clock.now += ms;
      return read();
    },
  };
}

/** Opens a file with this secret in a folder of its own. */
async function newSecret(text: string) {
  const path = join(await newFolder(), 'secret');
  writeFileSync(path, text);
  return { path, ...open(path) };
}

function issueOf(path: string): string | undefined {
  return thrownBy(UnusableFile, () => openSecretFile(path, { now: Date.now, onChange: () => {} }))?.issue;
}

/** A secret as Kubernetes mounts it: `token` → `..data/token`, where `..data` is a link that is renamed over. */
function mount(folder: string, revision: string, secret: string): void {
  mkdirSync(join(folder, revision));
  writeFileSync(join(folder, revision, 'token'), secret);
  symlinkSync(revision, join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
}

describe('the file of a secret', () => {
  for (const [text, secret] of [
    ['one', 'one'],
    ['one\n', 'one'],
    ['one\r\n', 'one'],
    ['of two words', 'of two words'],
    ['x'.repeat(16_384), 'x'.repeat(16_384)],
  ] as const) {
    it(`gives its one line, without the newline: ${JSON.stringify(text.slice(0, 20))}`, async () => {
      const { read } = await newSecret(text);
      expect(await read()).to.equal(secret);
    });
  }

  for (const [what, text, issue] of [
    ['nothing', '', 'is empty'],
    ['a newline alone', '\n', 'is empty'],
    ['two lines', 'one\ntwo\n', UNPRINTABLE],
    ['two newlines', 'one\n\n', UNPRINTABLE],
    ['another header behind it', 'one\r\nX-Admin: 1', UNPRINTABLE],
    ['white space around it', ' one', UNPRINTABLE],
    ['white space behind it', 'one \n', UNPRINTABLE],
    ['other letters', 'über', UNPRINTABLE],
    ['a byte order mark', '\ufeffone', UNPRINTABLE],
    ['NUL', 'one\0', UNPRINTABLE],
    ['too much', 'x'.repeat(16_385), 'is larger than 16384 bytes'],
  ] as const) {
    it(`is not used with ${what} in it`, async () => {
      const folder = await newFolder();
      const path = join(folder, 'secret');
      writeFileSync(path, text);
      expect(issueOf(path)).to.equal(issue);
    });
  }

  it('is a file, and is there', async () => {
    const folder = await newFolder();
    expect(issueOf(join(folder, 'none'))).to.equal('cannot be read: no such file or directory');
    expect(issueOf(folder)).to.equal('is no file');
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(issueOf(pipe)).to.equal('is no file');
  });

  it('is read again when another was renamed over it, with the same size and time too', async () => {
    const { path, later } = await newSecret('old');
    writeFileSync(`${path}.new`, 'new');
    execFileSync('touch', ['-r', path, `${path}.new`]);
    renameSync(`${path}.new`, path);
    expect(await later()).to.equal('new');
  });

  it('is read again when Kubernetes swaps the folder that it is a link into', async () => {
    const folder = await newFolder();
    mount(folder, '..1', 'old');
    symlinkSync(join('..data', 'token'), join(folder, 'token'));
    const { later, read } = open(join(folder, 'token'));
    expect(await read()).to.equal('old');
    mount(folder, '..2', 'new');
    rmSync(join(folder, '..1'), { recursive: true });
    expect(await later()).to.equal('new');
  });

  it('is not used while it is being written', async () => {
    const { path, clock, later, read, told } = await newSecret('a-long-secret');
    clock.now -= 5 * SECOND;
    await read();
    writeFileSync(path, 'another-');
    clock.now = statSync(path).ctimeMs + SECOND / 2;
    expect(await read()).to.equal('a-long-secret');
    writeFileSync(path, 'another-secret');
    clock.now = statSync(path).ctimeMs + SECOND - 1;
    expect(await read()).to.equal('a-long-secret');
    expect(told).to.deep.equal([]);
    expect(await later(SECOND)).to.equal('another-secret');
  });

  it('keeps the secret while it cannot be used, and logs the reason once', async () => {
    const { path, later, told } = await newSecret('old');
    for (const spoil of [() => truncateSync(path), () => rmSync(path), () => writeFileSync(path, 'two\nlines')]) {
      spoil();
      for (let times = 0; times < 2; times += 1) expect(await later()).to.equal('old');
    }
    const issues = ['is empty', 'cannot be read: no such file or directory', UNPRINTABLE];
    expect(told).to.deep.equal(issues);
    writeFileSync(path, 'new');
    expect(await later()).to.equal('new');
    rmSync(path);
    expect(await later()).to.equal('new');
    expect(told).to.deep.equal([...issues, undefined, 'cannot be read: no such file or directory']);
  });

  it('is checked once for all concurrent requests, each of which can be cancelled', async () => {
    const { path, clock, opened, told } = await newSecret('old');
    writeFileSync(path, 'new');
    clock.now += 10 * SECOND;
    const leaving = new AbortController();
    const left = opened.current(leaving.signal).catch((error: unknown) => error);
    const others = [opened.current(never), opened.current(never)];
    leaving.abort('gone');
    expect(await left).to.equal('gone');
    expect((await Promise.all(others)).map((secret) => secret.reveal())).to.deep.equal(['new', 'new']);
    expect(told).to.deep.equal([undefined]);
  });
});
