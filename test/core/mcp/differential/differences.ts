import { isUtf8 } from 'node:buffer';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { isObject } from '../../../../src/core/kernel/json-shape.ts';
import type { Exchange, Json, Told } from './exchange.ts';

/** Where ours answers otherwise than the SDK, and why. */
interface Difference {
  readonly why: string;
  /** What ours answers instead; `undefined` where it is no such request. */
  readonly instead: (told: Told, sent: Json, exchange: Exchange) => Told | undefined;
}

/** The revision of a client that names none. */
const ASSUMED = '2025-03-26';

const failed = (status: number, id: Json, code: number): Told => ({
  status,
  messages: [{ jsonrpc: '2.0', id, error: { code } }],
});
const withCode = (told: Told, from: number, to: number): Told | undefined => {
  if (!told.messages.some(({ error }) => error?.code === from)) return undefined;
  const messages = told.messages.map((one) => (one.error?.code === from ? { ...one, error: { code: to } } : one));
  return { ...told, messages };
};

export const DIFFERENCES: readonly Difference[] = [
  {
    why: 'the SDK blames itself for parameters that its schemas refuse',
    instead: (told) => (told.status === 200 ? withCode(told, -32603, -32602) : undefined),
  },
  {
    why: 'before 2026-07-28, the protocol calls an unknown resource -32002, and the SDK -32602 all the same',
    instead(told, sent) {
      const unknown = new Set(
        [sent]
          .flat()
          .filter(
            (one) => one?.method === 'resources/read' && typeof one.params?.uri === 'string' && one.params.uri !== '',
          )
          .map(({ id }) => id),
      );
      const isUnknown = ({ id, error }: Json) => error?.code === -32602 && unknown.has(id);
      if (!told.messages.some(isUnknown) || told.status !== 200) return undefined;
      if (sent.params?._meta?.['io.modelcontextprotocol/protocolVersion'] !== undefined) return undefined;
      return {
        ...told,
        messages: told.messages.map((one) => (isUnknown(one) ? { ...one, error: { code: -32002 } } : one)),
      };
    },
  },
  {
    why: 'a revision that is not spoken is called so, with the id of its request; the SDK has a code of its own',
    instead(told, sent, { headers: { protocolVersion: version = ASSUMED } }) {
      // The SDK takes a notification that looks like `initialize` for one.
      const isSpoken = SUPPORTED_PROTOCOL_VERSIONS.includes(version) || version >= '2026-07-28';
      if (told.status === 202 && initializes(sent) && !isSpoken) return failed(400, null, -32022);
      if (told.messages[0]?.error?.code !== -32000) return undefined;
      // Whatever its header names, and be it with parameters that are none, a request for `initialize` is one.
      if (initializes(sent) && idOf(sent) !== null) return failed(200, sent.id, -32602);
      return failed(400, idOf(sent), -32022);
    },
  },
  {
    why: 'a body that is not UTF-8 is no JSON; the SDK reads it with other characters in their place',
    instead: (_told, sent, { body }) =>
      sent === undefined && !isUtf8(Buffer.from(body)) ? failed(400, null, -32700) : undefined,
  },
  {
    why: 'what has an id is answered with it, be it a message or not',
    instead(told, sent) {
      const [one, ...more] = told.messages;
      if (one?.id !== null || more.length > 0 || idOf(sent) === null) return undefined;
      return { ...told, messages: [{ ...one, id: idOf(sent) }] };
    },
  },
  {
    why: 'an id that is not exact would come back changed; the SDK changes it',
    instead(told, sent) {
      const [one] = told.messages;
      if (typeof one?.id !== 'number' || Math.abs(one.id) <= Number.MAX_SAFE_INTEGER) return undefined;
      return { ...told, messages: [{ ...one, id: idOf(sent) }] };
    },
  },
  {
    why: 'a subscription repeats its id with each notification, so that it is short; the SDK takes any',
    instead: (told, sent) =>
      sent?.method === 'subscriptions/listen' &&
      String(idOf(sent)).length > 256 &&
      told.messages[0]?.error === undefined
        ? failed(200, sent.id, -32602)
        : undefined,
  },
  {
    why: 'a response is accepted and ignored: nothing was asked; the SDK looks at its revision and its members',
    instead: (_told, sent) =>
      isObject(sent) && sent['method'] === undefined && (isObject(sent['result']) || isObject(sent['error']))
        ? { status: 202, messages: [] }
        : undefined,
  },
  {
    why: 'batches are refused; the SDK answers those of earlier revisions',
    instead: (told, sent) => (Array.isArray(sent) && told.status !== 413 ? failed(400, null, -32600) : undefined),
  },
];

const initializes = (message: Json) => message?.method === 'initialize';

function idOf(message: Json): Json {
  const id = Array.isArray(message) ? undefined : Object(message).id;
  if (typeof id === 'number') return Math.abs(id) <= Number.MAX_SAFE_INTEGER ? JSON.parse(JSON.stringify(id)) : null;
  return typeof id === 'string' ? id : null;
}
