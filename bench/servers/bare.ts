import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { listen, TOOLS } from './listen.ts';

// What any cached read can be compared with: the bytes of the mapped list from memory, and nothing else. With a file, what is posted
// is read, and the bytes of the file are sent.
const file = process.argv[2];
const body = file === undefined ? Buffer.from(JSON.stringify(TOOLS)) : readFileSync(file);
const headers = { 'content-type': 'application/json; charset=utf-8', etag: '"bench"', 'content-length': body.length };

function send(response: ServerResponse): void {
  response.writeHead(200, headers);
  response.end(body);
}

listen((request, response) => {
  if (file === undefined) return send(response);
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    Buffer.concat(chunks);
    send(response);
  });
});
