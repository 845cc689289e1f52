import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { fetchText, readTextFile, SourceError } from '../../../src/setup/init/fetch-text.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { inFolder } from '../../support/process/process.ts';

const bounds = { maxBytes: 1_048_576, timeoutMs: 5000 };

async function messageOf(work: Promise<unknown>): Promise<string> {
  const error = await work.catch((reason: unknown) => reason);
  expect(error).to.be.instanceOf(SourceError);
  return (error as SourceError).message;
}

describe('what is read from outside', () => {
  it('is the reply of a server, with its status and headers', async () => {
    const { url } = await startHttpUpstream(json({ a: 1 }, 404, { 'x-total': '7' }));
    const { status, headers, text } = await fetchText(new URL(url), bounds);
    expect({ status, total: headers.get('x-total'), text }).to.deep.equal({ status: 404, total: '7', text: '{"a":1}' });
  });

  it('is an error if it is too large, whatever its length header', async () => {
    const { url } = await startHttpUpstream((_request, response) => {
      response.write('x'.repeat(600_000));
      response.end('x'.repeat(600_000));
    });
    expect(await messageOf(fetchText(new URL(url), bounds))).to.equal(`${url}/ is larger than 1 MiB`);
  });

  it('is an error if it takes too long, also in the body', async () => {
    const { url } = await startHttpUpstream((_request, response) => {
      response.write('{');
    });
    expect(await messageOf(fetchText(new URL(url), { ...bounds, timeoutMs: 200 }))).to.equal(
      `${url}/ did not answer within 0.2 s`,
    );
  });

  it('is an error without a server, which does not show the query', async () => {
    expect(await messageOf(fetchText(new URL('http://127.0.0.1:9/a?secret=1'), bounds))).to.equal(
      'http://127.0.0.1:9/a cannot be reached',
    );
  });

  it('is an error if the body does not match its headers', async () => {
    const { url } = await startHttpUpstream((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('{}');
    });
    expect(await messageOf(fetchText(new URL(url), bounds))).to.equal(`${url}/ sent a body that cannot be read`);
  });

  it('may be a file of bounded size', async () => {
    await inFolder(async (folder) => {
      const file = join(folder, 'a.json');
      await writeFile(file, '{"a":1}');
      expect(await readTextFile(file, 7)).to.equal('{"a":1}');
      expect(await messageOf(readTextFile(file, 6))).to.equal(`${file} is larger than 0 MiB`);
      expect(await messageOf(readTextFile(join(folder, 'b.json'), 7))).to.contain('cannot be read (ENOENT)');
    });
  });
});
