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

/** What a method answers: the members of its result, or JSON of which other responses share the most. */
export type Result = MembersResult | WrittenResult;

interface MembersResult {
  readonly members: Members;
  /** Sent ahead of the response. */
  readonly notification?: JSONRPCNotification;
}

interface WrittenResult {
  /** Bytes that responses share, from `{"result":{` on. */
  readonly shared: readonly Buffer[];
  /** The members behind those, with a comma before each. */
  readonly own?: string;
}

/** A result that is the same for every request: it is written once. It must have members. */
export function constantResult(members: Members): Result {
  return { shared: [Buffer.from(`{"result":${JSON.stringify(members).slice(0, -1)}`)] };
}

/** Writes the response that brings a result, in pieces. From 2026-07-28 on, each result says whose it is. */
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
