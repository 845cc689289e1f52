import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Node keeps what it has compiled, and stripped of types, for the next process: the tests start hundreds, most of which
// would spend half their time on that. mocha loads this file first, and whatever it starts inherits the variable. Under
// coverage V8 must see each function compiled, so that it counts all of them.
if (process.env['NODE_V8_COVERAGE'] === undefined) {
  process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url));
  enableCompileCache(process.env['NODE_COMPILE_CACHE']);
}
