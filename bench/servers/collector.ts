import { listen } from './listen.ts';

// A collector of traces that takes whatever it is sent, and forgets it.

listen((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
});
