import { createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { type Caller, Credential } from '../../../src/core/kernel/caller.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import type { Events } from '../../../src/core/kernel/events.ts';
import { bodyText } from '../../../src/core/upstream/client/body.ts';
import { createUpstream, type UpstreamOptions } from '../../../src/core/upstream/client/upstream-client.ts';
import type { LoadTiming, PageRequest, Upstream } from '../../../src/core/upstream/upstream.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { listen } from '../../support/listening.ts';
import { startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { rejectionBy } from '../../support/thrown.ts';

const CALLER = {
  credential: new Credential('secret-token'),
  credentialKey: 'k',
  cacheScope: 'p',
  requestId: 'request-1',
};

/** The request for a page that is read as its text, as the client gets it. Its load is never late. */
export function asking(
  target = '/',
  caller: Partial<Caller> = {},
  load: LoadTiming = { dueAt: Number.POSITIVE_INFINITY },
): PageRequest<string> {
  return {
    target,
    caller: { ...CALLER, ...caller },
    read: bodyText,
    load,
    authorization: { authorization: 'Bearer secret-token' },
  };
}

/** A signal that never aborts. */
export const calm = (): AbortSignal => new AbortController().signal;

export const serve = startHttpUpstream;

/** A TCP server on loopback. `answer` is called with each connection once the head of a request has arrived. */
export async function serveRaw(answer: (socket: Socket) => void) {
  /** Every connection so far. */
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {}).on('data', () => answer(socket));
  });
  const { url } = await listen(server);
  return { url, sockets };
}

/** An upstream that is closed with the test. */
export function open(baseUrl: string, options: Partial<UpstreamOptions> = {}): Upstream {
  const upstream = createUpstream({
    name: 'projects',
    baseUrl,
    headers: {},
    connectTimeoutMs: 2000,
    connections: 4,
    maxPageBytes: 1024,
    usesCallerToken: true,
    events: {},
    ...options,
  });
  onCleanup(() => upstream.close());
  return upstream;
}

/** Resolves once the first of an upstream's connections is closed, however it ended; at once where there was none. */
export async function closed([socket]: readonly Socket[]): Promise<void> {
  if (socket?.closed === false) await new Promise((resolve) => socket.once('close', resolve));
}

/** What a promise rejects with; fails where it does not. */
export function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('it did not reject'),
    (error: unknown) => error,
  );
}

/** The gateway error that a promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<GatewayError> {
  return (await rejectionBy(GatewayError, promise)) ?? expect.fail('it did not reject');
}

/** All that was told, by the name of the event. */
export type Told = { [Name in keyof Events]: Parameters<NonNullable<Events[Name]>>[0][] };

/** Listens to everything. */
export function recordEvents(): { readonly events: Events; readonly told: Told } {
  const told: Record<string, unknown[]> = {};
  const events = new Proxy<Events>(
    {},
    {
      get: (_target, name: string) => (event: unknown) => {
        told[name] = [...(told[name] ?? []), event];
      },
    },
  );
  return { events, told: told as Told };
}
