import { promisify } from 'node:util';
import { gzip, zstdCompress } from 'node:zlib';
import { listen } from './listen.ts';
import { TOOLS } from './page.ts';

// What any cached read can be compared with: the bytes of the mapped answer from memory, and nothing else.
const plain = Buffer.from(JSON.stringify(TOOLS));
const json = { 'content-type': 'application/json; charset=utf-8', etag: '"bench"' };
const sized = (body: Buffer) => ({ ...json, 'content-length': body.length });
const zstd = await promisify(zstdCompress)(plain);
const gzipped = await promisify(gzip)(plain);

const ANSWERS = {
  plain: { status: 200, headers: sized(plain), body: plain },
  zstd: { status: 200, headers: { ...sized(zstd), 'content-encoding': 'zstd' }, body: zstd },
  gzip: { status: 200, headers: { ...sized(gzipped), 'content-encoding': 'gzip' }, body: gzipped },
  'not-modified': { status: 304, headers: { etag: json.etag }, body: undefined },
};

/** Which response this server sends to every request. */
type BareAnswer = keyof typeof ANSWERS;

const [wanted = 'plain'] = process.argv.slice(2);
const { status, headers, body } = ANSWERS[wanted as BareAnswer];

listen((_request, response) => {
  response.writeHead(status, headers);
  response.end(body);
});
