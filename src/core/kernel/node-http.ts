/**
 * The used parts of `node:http`. An `import` reads all its exports, among them `WebSocket`, for which Node loads its
 * fetch: 35 ms of a start.
 */
export const { createServer, STATUS_CODES, validateHeaderName, validateHeaderValue } =
  process.getBuiltinModule('node:http');
