import { Router } from '@koa/router';
import Koa from 'koa';
import { listen, TOOLS } from './listen.ts';

// A Koa application that does nothing else: a route that sends the same bytes with the headers of Portico.
const body = Buffer.from(JSON.stringify(TOOLS));
const router = new Router();
router.get('/mcp/v1/resources/read', (ctx) => {
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  ctx.set('ETag', 'W/"bench"');
  ctx.set('Vary', 'Authorization, Accept-Encoding');
  ctx.set('Cache-Control', 'private, max-age=60');
  ctx.set('Age', '1');
  ctx.set('Cache-Status', 'portico; hit; ttl=59');
  ctx.set('X-Request-Id', 'bench');
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.body = body;
});
const app = new Koa().use(router.routes());
listen(app.callback());
