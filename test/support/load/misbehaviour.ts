import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Gives the response that the platform would give without the fault. */
type Sound = () => void;

/** What one fault makes of one request. */
type Misbehave = (response: ServerResponse, sound: Sound, request: IncomingMessage) => void;

const SLOW_MS = 60;
const LIE = '{"items":[{"id":"';

/** Takes turns, so that each of them comes about. */
function inTurn(kinds: readonly Misbehave[]): Misbehave {
  let turn = 0;
  return (...args) => {
    turn += 1;
    kinds[turn % kinds.length]?.(...args);
  };
}

const garbage = inTurn([
  (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Down for maintenance</h1>'),
  (response) => response.writeHead(200).end(LIE),
  (response) => response.writeHead(200).end('{"projects":7,"workflows":"some","tools":true}'),
  (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('this is not gzip'),
  (response) => response.socket?.end('SSH-2.0-Platform_1.0\r\n'),
]);

const retryAfter = inTurn([
  (response) => response.writeHead(503, { 'retry-after': '0' }).end(),
  (response) => response.writeHead(503, { 'retry-after': '1' }).end('{"error":"later"}'),
]);

const resets = inTurn([
  (response) => response.socket?.resetAndDestroy(),
  (response) => {
    // In the middle of a body that was to be longer.
    response.writeHead(200, { 'content-length': 1000 }).write(LIE);
    setImmediate(() => response.socket?.resetAndDestroy());
  },
]);

const stalls = inTurn([
  // Nothing, until the other side gives up.
  () => {},
  (response) => response.writeHead(200).write(LIE),
]);

/** Faults of a flapping platform, each for a while. During `outage` its listener is closed. */
export const FAULTS = {
  error: (response) => response.writeHead(500).end('{"error":"boom"}'),
  unavailable: retryAfter,
  reset: resets,
  slow: (_response, sound, { socket }) => {
    void sleep(SLOW_MS).then(() => socket.destroyed || sound());
  },
  garbage,
  stall: stalls,
  rateLimit: (response) => response.writeHead(429, { 'retry-after': '1' }).end(),
  forbidden: (response) => response.writeHead(403).end(),
  gone: (response) => response.writeHead(404).end(),
} as const satisfies Record<string, Misbehave>;

export type Fault = keyof typeof FAULTS | 'outage';

export const FAULT_NAMES = [...(Object.keys(FAULTS) as (keyof typeof FAULTS)[]), 'outage'] as readonly Fault[];

const FINE_MS = 400;
const FOUL_MS = 200;
/** In fine weather one request in so many meets a fault all the same. */
const SPRINKLE = 40;

/**
 * What a platform does at a time. Its faults come in turn, so that every one of them comes about in any longer run. `first` is the
 * fault that it begins with; until then the weather is fine.
 */
export function createWeather(first: number) {
  let flapping = false;
  let requests = 0;
  const fault = (number: number): Fault | undefined => FAULT_NAMES[(first + number) % FAULT_NAMES.length];

  function now(): Fault | undefined {
    const ms = performance.now();
    const period = FINE_MS + FOUL_MS;
    return flapping && ms % period >= FINE_MS ? fault(Math.floor(ms / period)) : undefined;
  }

  return {
    /** What the next request meets. */
    next() {
      requests += 1;
      return now() ?? (flapping && requests % SPRINKLE === 0 ? fault(requests / SPRINKLE) : undefined);
    },
    /** Whether the platform is out altogether now. */
    isOut: () => now() === 'outage',
    /** All of it from now on, or nothing but fine weather. */
    flap(flaps: boolean) {
      flapping = flaps;
    },
  };
}
