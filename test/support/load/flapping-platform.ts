import type { IncomingMessage, ServerResponse } from 'node:http';
import { json, listOf, startHttpUpstream, tokenOf } from '../platform/http-upstream.ts';
import { type Loaded, listFor, nameIn } from './callers.ts';

const PAGE_SIZE = 10;
const SLOW_MS = 60;
const LIE = '{"items":[{"id":"';

type Misbehave = (response: ServerResponse, sound: () => void, request: IncomingMessage) => void;

/** Takes turns, so that each of them comes about. */
function inTurn(...kinds: readonly Misbehave[]): Misbehave {
  let turn = 0;
  return (...args) => kinds[turn++ % kinds.length]?.(...args);
}

/** Faults of a flapping platform, each for a while. During `outage` its listener is closed. */
const FAULTS: Readonly<Record<string, Misbehave>> = {
  error: (response) => response.writeHead(500).end('{"error":"boom"}'),
  unavailable: inTurn(
    (response) => response.writeHead(503, { 'retry-after': '0' }).end(),
    (response) => response.writeHead(503, { 'retry-after': '1' }).end('{"error":"later"}'),
  ),
  reset: inTurn(
    (response) => response.socket?.resetAndDestroy(),
    (response) => {
      // In the middle of a body that was to be longer.
      response.writeHead(200, { 'content-length': 1000 }).write(LIE);
      setImmediate(() => response.socket?.resetAndDestroy());
    },
  ),
  slow: (_response, sound, { socket }) => void setTimeout(() => socket.destroyed || sound(), SLOW_MS),
  garbage: inTurn(
    (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Down for maintenance</h1>'),
    (response) => response.writeHead(200).end(LIE),
    (response) => response.writeHead(200).end('{"projects":7,"workflows":"some","tools":true}'),
    (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('this is not gzip'),
    (response) => response.socket?.end('SSH-2.0-Platform_1.0\r\n'),
  ),
  // Until the other side gives up.
  stall: inTurn(
    () => {},
    (response) => response.writeHead(200).write(LIE),
  ),
  rateLimit: (response) => response.writeHead(429, { 'retry-after': '1' }).end(),
  revoked: (response) => response.writeHead(401).end(),
  forbidden: (response) => response.writeHead(403).end(),
  gone: (response) => response.writeHead(404).end(),
  outage: (response) => response.socket?.destroy(),
};
export const FAULT_NAMES = Object.keys(FAULTS);

/** The faults come in turn, each for `forMs` after a pause; in fine weather one request in so many meets one all the same. */
const WEATHER = { fineMs: 400, foulMs: 200, oneIn: 40, lookMs: 20 };

export type FlappingPlatform = Awaited<ReturnType<typeof startFlappingPlatform>>;

/** A platform with three lists for each caller that fails at intervals. `first` is the fault that it begins with. */
export async function startFlappingPlatform(first = 0) {
  const met: Record<string, number> = {};
  let flapping = false;
  let requests = 0;

  function faultNow(): string | undefined {
    const ms = performance.now();
    const period = WEATHER.fineMs + WEATHER.foulMs;
    if (!flapping || ms % period < WEATHER.fineMs) return undefined;
    return FAULT_NAMES[(first + Math.floor(ms / period)) % FAULT_NAMES.length];
  }

  function sound(request: IncomingMessage, response: ServerResponse): void {
    const name = nameIn(tokenOf(request));
    const resource = listOf(request) as Loaded;
    const start = Number(new URL(request.url ?? '', 'http://platform').searchParams.get('pageToken'));
    const all = listFor(name, resource);
    const etag = `"${name}"`;
    if (all.length <= PAGE_SIZE && request.headers['if-none-match'] === etag) {
      response.writeHead(304, { etag }).end();
      return;
    }
    const next = start + PAGE_SIZE < all.length ? String(start + PAGE_SIZE) : '';
    const page = { [resource]: all.slice(start, start + PAGE_SIZE), nextPageToken: next };
    json(page, 200, all.length <= PAGE_SIZE ? { etag } : {})(request, response);
  }

  const { url, refuse, accept } = await startHttpUpstream(
    (request, response) => {
      requests += 1;
      const sprinkled =
        flapping && requests % WEATHER.oneIn === 0 ? FAULT_NAMES[requests % FAULT_NAMES.length] : undefined;
      const fault = faultNow() ?? sprinkled;
      if (fault === undefined) return sound(request, response);
      met[fault] = (met[fault] ?? 0) + 1;
      FAULTS[fault]?.(response, () => sound(request, response), request);
    },
    { record: false },
  );

  let isOut = false;
  setInterval(() => {
    if (isOut === (faultNow() === 'outage')) return;
    isOut = !isOut;
    void (isOut ? refuse() : accept());
  }, WEATHER.lookMs).unref();

  return {
    url,
    /** How often each fault came about. */
    met: met as Readonly<Record<string, number>>,
    /** Flaps from now on, or does what it should. It begins calm. */
    flap(flaps: boolean) {
      flapping = flaps;
    },
  };
}
