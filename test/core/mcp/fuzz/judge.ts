import { ERRORS, type ErrorCode } from '../../../../src/core/kernel/error-table.ts';
import type { RawResponse } from '../../../support/platform/raw-response.ts';
import { TOKEN } from './requests.ts';

// biome-ignore lint/suspicious/noExplicitAny: taken apart here.
type Json = any;

const RESOURCE_NOT_FOUND = -32002;

/** Throws where an answer is none that a client may get. `sent` is the body that it answers, where that is known. */
export function judge(answer: RawResponse, sent?: Buffer): void {
  const { status, headers, body } = answer;
  check(!body.includes(TOKEN) && !JSON.stringify([...headers]).includes(TOKEN), 'the token is in the answer');
  if (status >= 200) judgeFinal(answer, sent);
  else check(status === 100 || status === 102, 'an interim answer');
}

function judgeFinal(answer: RawResponse, sent: Buffer | undefined): void {
  const { status, headers, body } = answer;
  // 501: a transfer coding that is not supported.
  check(
    (status < 500 || status === 501) && /^[a-zA-Z0-9._~:/+=@-]{1,128}$/.test(headers.get('x-request-id') ?? ''),
    'the head',
  );
  const type = headers.get('content-type');
  if (type === 'application/problem+json') judgeProblem(answer);
  else if (type === 'text/event-stream') judgeStream(answer);
  else if (type === 'application/json') judgeJson(answer, sent);
  else check(type === null && status === 202 && body.length === 0, 'the type');
}

function judgeJson(answer: RawResponse, sent: Buffer | undefined): void {
  const json: Json = JSON.parse(answer.body.toString());
  judgeMessage(json, answer, expectedId(sent));
}

function judgeProblem({ status, headers, body }: RawResponse): void {
  const { code, requestId, ...problem }: Json = JSON.parse(body.toString());
  const row = rowOf(code);
  check(row.status === status && problem.status === status, 'the status of a problem');
  check(problem.title === row.title && typeof problem.detail === 'string', 'what a problem says');
  check(requestId === headers.get('x-request-id'), 'the requestId of a problem');
  check((status === 401) === headers.has('www-authenticate') || status === 403, 'a challenge');
}

function judgeMessage(message: Json, { status, headers }: RawResponse, id: unknown): void {
  check(message?.jsonrpc === '2.0', 'the version of JSON-RPC');
  check('result' in message !== 'error' in message, 'either a result or an error');
  const { error } = message;
  // An invalid request may have no readable id; one with too many values is not parsed.
  const untold = ['invalid_rpc', 'too_large'].includes(error?.data?.code) && message.id === null;
  if (id !== undefined) check(message.id === id || untold, 'the id');
  if (error === undefined) {
    check(status === 200 && message.id !== null, 'a result');
    return;
  }
  const { code, requestId } = error.data;
  const row = rowOf(code);
  check(typeof error.message === 'string', 'the words of an error');
  check(error.code === row.rpc || isLegacyUnknown(error), 'its number');
  check(status === 200 || status === row.status, 'its status');
  check(requestId === headers.get('x-request-id'), 'its requestId');
}

function judgeStream(answer: RawResponse): void {
  const messages = answer.body
    .toString()
    .split('\n')
    .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice('data: '.length))] : []));
  check(messages.length > 0, 'an empty stream');
  for (const message of messages) if (!('method' in message)) judgeMessage(message, answer, undefined);
}

/** The id that the answer to a body has to have; `undefined` where there may be several, or none. */
function expectedId(sent: Buffer | undefined): unknown {
  if (sent === undefined) return undefined;
  try {
    const message: Json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(sent));
    if (Array.isArray(message)) return null;
    const id = message?.id;
    if (typeof id === 'number') return Math.abs(id) <= Number.MAX_SAFE_INTEGER ? JSON.parse(JSON.stringify(id)) : null;
    return typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
}

function isLegacyUnknown(error: Json): boolean {
  return error.code === RESOURCE_NOT_FOUND && error.data.code === 'resource_unknown';
}

/** The row of the error table. No client can cause an internal error. */
function rowOf(code: unknown): { readonly status: number; readonly title: string; readonly rpc?: number } {
  const isCode = typeof code === 'string' && Object.hasOwn(ERRORS, code) && code !== 'internal';
  if (!isCode) throw new Error(`wrong: the code ${code}`);
  return ERRORS[code as ErrorCode];
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`wrong: ${what}`);
}
