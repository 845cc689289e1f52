import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: OutgoingHttpHeaders = {},
): void {
  // The newline keeps a terminal's prompt off the last line of what curl shows.
  send(response, status, 'application/json', `${JSON.stringify(body)}\n`, headers);
}

/** `message` is words of ours: nothing of the request is repeated. */
export function sendError(
  response: ServerResponse,
  status: number,
  message: string,
  headers: OutgoingHttpHeaders = {},
): void {
  sendJson(response, status, { error: { code: status, message } }, headers);
}

export function send(
  response: ServerResponse,
  status: number,
  contentType: string,
  text: string,
  headers: OutgoingHttpHeaders = {},
): void {
  const body = Buffer.from(text);
  response.writeHead(status, { 'Content-Type': contentType, 'Content-Length': body.length, ...headers });
  response.end(body);
}
