import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** `require()`, because the router's `import` reads all exports of `node:http` (kernel/node-http.ts). */
export const Koa: typeof import('koa') = require('koa');
export const koaRouter: typeof import('@koa/router') = require('@koa/router');
