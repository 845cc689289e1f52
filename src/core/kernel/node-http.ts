/** An `import` of `node:http` reads all its exports, among them `WebSocket`, for which Node loads its fetch: 35 ms of a start. */
export const { createServer, STATUS_CODES, validateHeaderName, validateHeaderValue } =
  process.getBuiltinModule('node:http');

/** Returns `node:tls`, which is loaded with the first use of TLS: 10 ms of a start, and 3 MB, with `node:https`. */
export const loadTls = () => process.getBuiltinModule('node:tls');
