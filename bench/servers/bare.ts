import { listen, TOOLS } from './listen.ts';

// What any cached read can be compared with: the bytes of the mapped list from memory, and nothing else.
const body = Buffer.from(JSON.stringify(TOOLS));
const headers = { 'content-type': 'application/json; charset=utf-8', etag: '"bench"', 'content-length': body.length };

listen((_request, response) => {
  response.writeHead(200, headers);
  response.end(body);
});
