import { expect } from 'chai';
import { type RunningGateway, settingsFor, startGateway } from '../../support/gateway.ts';
import { item, message, page, says, sends } from '../../support/platform/faults.ts';
import { type Fault, type RawUpstream, startRawUpstream } from '../../support/platform/raw-upstream.ts';

const READS = 100;
const AT_ONCE = 10;

/** How second pages fail so that asking again may help. */
const PASSING: Record<string, Fault> = {
  'a status 503': says('503 No'),
  'a reset': sends('', 'reset'),
  'a body that breaks off': sends('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{', 'end'),
};

describe('a failing platform with many readers', () => {
  let platform: RawUpstream;
  let running: RunningGateway;

  beforeEach(async () => {
    platform = await startRawUpstream();
    // A breaker would spare it even more.
    const upstream = { retry: { baseDelayMs: 1 }, breaker: { minimumCalls: 1_000_000 } };
    running = await startGateway(settingsFor(platform.url, { upstream }));
  });

  for (const [what, fault] of Object.entries(PASSING)) {
    it(`receives at most 1.2 requests for each page, and 3 more in 10 s: ${what}`, async () => {
      const begun = performance.now();
      const first = sends((request) => message('200 OK', page(request, [item('one')], 'second')));
      await platform.behave((socket, request) => (request.pageToken === '' ? first : fault)(socket, request));
      for (let count = 0; count < READS; count += AT_ONCE) {
        // Each a caller of its own, so that none joins the flight of another.
        const reads = Array.from({ length: AT_ONCE }, (_, index) =>
          running.read('projects', { headers: { authorization: `Bearer caller-${count + index}` } }),
        );
        for (const { status } of await Promise.all(reads)) expect(status).to.equal(502);
      }
      const pages = 2 * READS;
      const allowed = 0.2 * pages + 3 * Math.ceil((performance.now() - begun) / 10_000);
      // Some of what is allowed in the end was not there yet when it was wanted.
      expect(platform.attempts() - pages).to.be.within(allowed / 2, allowed);
    });
  }
});
