import { listen } from './listen.ts';
import { PAGE } from './page.ts';

const page = Buffer.from(PAGE);

listen((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': page.length });
  response.end(page);
});
