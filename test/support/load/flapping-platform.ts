import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { startHttpUpstream } from '../platform/http-upstream.ts';
import { LOADED_RESOURCES, type LoadCaller } from './callers.ts';
import { createWeather, FAULTS, type Fault } from './misbehaviour.ts';
import { editionAt, lengthFor, PAGE_SIZE, pageFor } from './truth.ts';

const LOOK_OUT_MS = 20;
/** Callers who are refused at one time: one in so many, each for this long. */
const REVOKED = { oneIn: 10, forMs: 700 };

export type FlappingPlatform = Awaited<ReturnType<typeof startFlappingPlatform>>;

/** A platform with three lists for each of its callers that fails at intervals. `first` is the fault that it begins with. */
export async function startFlappingPlatform(callers: readonly LoadCaller[], first: number) {
  const known = new Map<string, LoadCaller>();
  const know = (more: readonly LoadCaller[]) => {
    for (const caller of more) known.set(`Bearer ${caller.token}`, caller);
  };
  know(callers);
  const weather = createWeather(first);
  const met = new Map<string, number>();
  const mistakes: string[] = [];
  const refusedAt = new Map<string, number>();
  const count = (kind: Fault | 'refused') => met.set(kind, (met.get(kind) ?? 0) + 1);
  let flapping = false;

  function isRevoked({ index, isRefused }: LoadCaller): boolean {
    if (isRefused) return true;
    return flapping && (Math.floor(performance.now() / REVOKED.forMs) + index) % REVOKED.oneIn === 0;
  }

  function respond(caller: LoadCaller, url: URL, request: IncomingMessage, response: ServerResponse): void {
    const resource = LOADED_RESOURCES.find((name) => url.pathname === `/v1/${name}`);
    if (resource === undefined) throw new Error(`there is nothing at ${url.pathname}`);
    const start = Number(url.searchParams.get('pageToken'));
    const edition = editionAt(resource, performance.now());
    const etag = `"${edition}-${caller.mark}"`;
    const isWhole = lengthFor(caller, resource) <= PAGE_SIZE;
    if (isWhole && request.headers['if-none-match'] === etag) {
      response.writeHead(304, { etag }).end();
      return;
    }
    const next = start + PAGE_SIZE < lengthFor(caller, resource) ? String(start + PAGE_SIZE) : '';
    const page = { [resource]: pageFor(caller, resource, start, edition), nextPageToken: next };
    response.writeHead(200, { 'content-type': 'application/json', ...(isWhole && { etag }) }).end(JSON.stringify(page));
  }

  const handler: RequestListener = (request, response) => {
    const target = new URL(request.url ?? '', 'http://platform');
    const caller = known.get(request.headers.authorization ?? '');
    if (caller === undefined) {
      mistakes.push("a request of nobody's");
      response.writeHead(418).end();
      return;
    }
    if (isRevoked(caller)) {
      count('refused');
      refusedAt.set(String(request.headers['x-request-id']), performance.now());
      response.writeHead(401).end();
      return;
    }
    const fault = weather.next();
    const sound = () => respond(caller, target, request, response);
    if (fault === undefined || fault === 'outage') return sound();
    count(fault);
    FAULTS[fault](response, sound, request);
  };
  const { url, refuse, accept, close } = await startHttpUpstream(handler, { record: false });

  // An outage: the listener and all connections are closed.
  let isOut = false;
  const lookOut = setInterval(() => {
    if (weather.isOut() === isOut) return;
    isOut = !isOut;
    if (isOut) count('outage');
    void (isOut ? refuse() : accept());
  }, LOOK_OUT_MS);

  return {
    url,
    /** How often each fault, and `refused` (401), came about. */
    met,
    /** What should not have come here. */
    mistakes,
    /** When a request was refused (401), by its request id; by the clock of `performance.now()`. */
    refusedAt,
    /** Has further callers. */
    know,
    /** Flaps from now on, or does what it should. It begins calm. */
    flap(flaps: boolean) {
      flapping = flaps;
      weather.flap(flaps);
    },
    close() {
      clearInterval(lookOut);
      return close();
    },
  };
}
