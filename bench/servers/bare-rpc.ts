import { readFileSync } from 'node:fs';
import { listen } from './listen.ts';

// What any JSON-RPC read from cache can be compared with: it reads what is posted, and sends one answer from a file
// that it has read before.
const body = readFileSync(process.argv[2] ?? '');
const headers = { 'content-type': 'application/json', 'content-length': body.length };

listen((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    Buffer.concat(chunks);
    response.writeHead(200, headers);
    response.end(body);
  });
});
