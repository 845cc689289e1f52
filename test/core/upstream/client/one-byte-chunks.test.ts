import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { asking, calm, open, serveRaw } from '../harness.ts';

const BYTES = 1_048_576;
const READER = fileURLToPath(new URL('small-heap-reader.ts', import.meta.url));

describe('a page in chunks of one byte', () => {
  it('takes little more memory than its bytes: four of them are read with a heap of 64 MB', async () => {
    const response = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(BYTES)}0\r\n\r\n`;
    const { url } = await serveRaw((socket) => socket.write(response));
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ['--max-old-space-size=64', READER, url, String(BYTES)]);
    expect(JSON.parse(stdout)).to.deep.equal(Array(4).fill(BYTES));
  });

  it('is read in many turns of the event loop', async () => {
    const chunks = 100_000;
    const response = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(chunks)}0\r\n\r\n`;
    const { url } = await serveRaw((socket) => socket.write(response));
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    const reading = open(url, { maxPageBytes: chunks }).get(asking(), calm());
    count();
    expect((await reading).page).to.have.length(chunks);
    isOver = true;
    expect(turns).to.be.above(chunks / 256);
  });
});
