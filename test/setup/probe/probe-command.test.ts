import { expect } from 'chai';
import { startProgress } from '../../../src/setup/probe/probe-command.ts';

function written(isTTY: boolean, columns: number, ...texts: string[]): string[] {
  const lines: string[] = [];
  const progress = startProgress({ isTTY, columns, write: (text: string | Uint8Array) => lines.push(`${text}`) > 0 });
  for (const text of texts) progress.show(text);
  progress.clear();
  return lines;
}

describe('a line of progress', () => {
  it('is overwritten on a terminal, cut at its width, and erased', () => {
    expect(written(true, 80, 'one', 'two')).to.deep.equal(['\r\u001b[2Kone', '\r\u001b[2Ktwo', '\r\u001b[2K']);
    for (const [columns, length] of [
      [10, 9],
      [1, 1],
      [0, 79],
    ] as const) {
      expect(written(true, columns, 'x'.repeat(200))[0]).to.equal(`\r\u001b[2K${'x'.repeat(length)}`);
    }
  });

  it('is not written to other streams', () => {
    expect([...written(false, 80, 'one'), ...written(true, 80)]).to.deep.equal([]);
  });
});
