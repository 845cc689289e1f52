import { listen } from './listen.ts';
import { PAGE } from './page.ts';

// What any cached read can be compared with: the bytes of the mapped answer, and nothing else.
const body = Buffer.from(JSON.stringify(JSON.parse(PAGE).tools));

listen((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length });
  response.end(body);
});
