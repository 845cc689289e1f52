import { listen } from './listen.ts';

// A collector of traces that accepts everything and keeps nothing.

listen((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
});
