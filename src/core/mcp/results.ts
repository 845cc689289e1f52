import {
  type Implementation,
  type JSONRPCNotification,
  type RequestId,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server';
import { CURRENT, EARLIER, type Revision } from './revisions.ts';

/** Members of a result. */
export interface Members {
  readonly [name: string]: unknown;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A method's result: its members, or JSON that is mostly shared with other responses. */
export type Result = MembersResult | WrittenResult;

interface MembersResult {
  readonly members: Members;
  /** Bytes before the response. */
  readonly notification?: JSONRPCNotification;
}

interface WrittenResult {
  /** Shared bytes, starting with `{"result":{`. */
  readonly shared: readonly Buffer[];
  /** The following members, each preceded by a comma. */
  readonly own?: string;
}

/** Returns a result that is equal for every request, and written once. It must have members. */
export function constantResult(members: Members): Result {
  return { shared: [Buffer.from(`{"result":${JSON.stringify(members).slice(0, -1)}`)] };
}

/** Writes the response with a result, in pieces. Since 2026-07-28 each result names its server. */
export function createWriteResult(server: Implementation) {
  const meta = { [SERVER_INFO_META_KEY]: server };
  const ends: Readonly<Record<Revision, string>> = {
    [CURRENT]: `,"resultType":"complete","_meta":${JSON.stringify(meta)}}`,
    [EARLIER]: '}',
  };
  return function writeResult(result: Result, revision: Revision, id: RequestId): readonly Buffer[] {
    const rest = `,"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
    if ('shared' in result) return [...result.shared, Buffer.from(`${result.own ?? ''}${ends[revision]}${rest}`)];
    const { members } = result;
    const complete = { ...members, resultType: 'complete', _meta: { ...members._meta, ...meta } };
    return [Buffer.from(`{"result":${JSON.stringify(revision === CURRENT ? complete : members)}${rest}`)];
  };
}
