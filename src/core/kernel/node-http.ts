/**
 * What is used of `node:http`. An `import` of it would ask for each of its exports, `WebSocket` among them, for which Node
 * loads all of its own fetch: 35 ms of the start.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');
