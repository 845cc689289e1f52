import { expect } from 'chai';
import { startProgress } from '../../../src/setup/probe/probe-command.ts';

/** A stream that keeps what is written, and what was written. */
function stream(isTTY: boolean, columns: number) {
  const written: string[] = [];
  const write = (text: string | Uint8Array) => written.push(String(text)) > 0;
  return { written, stream: { isTTY, columns, write } };
}

describe('a line of progress', () => {
  it('is written over on a terminal, and leaves nothing behind', () => {
    const { written, stream: terminal } = stream(true, 80);
    const progress = startProgress(terminal);
    progress.show('one');
    progress.show('two');
    progress.clear();
    expect(written).to.deep.equal(['\r\u001b[2Kone', '\r\u001b[2Ktwo', '\r\u001b[2K']);
  });

  it('is cut off where a terminal would break it in two, whether it knows its width or not', () => {
    for (const [columns, length] of [
      [10, 9],
      [1, 1],
      [0, 79],
    ] as const) {
      const { written, stream: terminal } = stream(true, columns);
      startProgress(terminal).show('x'.repeat(200));
      expect(written[0]?.replace('\r\u001b[2K', '')).to.equal('x'.repeat(length));
    }
  });

  it('is not written to what is no terminal, nor cleared where none was shown', () => {
    const pipe = stream(false, 80);
    const progress = startProgress(pipe.stream);
    progress.show('one');
    progress.clear();
    const quiet = stream(true, 80);
    startProgress(quiet.stream).clear();
    expect([...pipe.written, ...quiet.written]).to.deep.equal([]);
  });
});
