import { expect } from 'chai';
import { type RunningGateway, settingsFor, startGateway } from '../../support/gateway.ts';
import { once, responds, says, sends } from '../../support/platform/faults.ts';
import { type Fault, type RawUpstream, startRawUpstream } from '../../support/platform/raw-upstream.ts';

const FAILED = '502 upstream_failed';

/** What a POST meets, and how often it is sent where it may be sent once, and where settings let it be sent again. */
const MEETINGS: readonly (readonly [what: string, fault: Fault | 'refuses', once: string, again: string])[] = [
  ['a platform that refuses the connection', 'refuses', `${FAILED}, 1`, `${FAILED}, 3`],
  ['a connection that is reset before the answer', once(sends('', 'reset'), responds), `${FAILED}, 1`, '200, 2'],
  [
    'a connection that is reset within the answer',
    once(sends('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"too', 'reset'), responds),
    ...([`${FAILED}, 1`, '200, 2'] as const),
  ],
  ['a platform that says 503', once(says('503 No'), responds), `${FAILED}, 1`, '200, 2'],
  ['a platform that says 400', says('400 No'), '502 upstream_refused, 1', '502 upstream_refused, 1'],
];

describe('a list that is read by POST', () => {
  let platform: RawUpstream;

  beforeEach(async () => {
    platform = await startRawUpstream();
  });

  async function start(retryPost: boolean): Promise<RunningGateway> {
    const tools = { method: 'POST', body: { q: 'x'.repeat(100_000), after: null }, retryPost } as const;
    const pagination = { kind: 'token', sizeParam: null, tokenParam: '/after' } as const;
    const settings = settingsFor(platform.url, {
      upstream: { retry: { baseDelayMs: 1 }, connections: 1 },
      resources: { tools: { ...tools, pagination } },
    });
    return startGateway(settings);
  }

  for (const [what, fault, sentOnce, sentAgain] of MEETINGS) {
    for (const [retryPost, answer] of [
      [false, sentOnce],
      [true, sentAgain],
    ] as const) {
      it(`with retryPost ${retryPost}, after ${what}: ${answer} requests`, async () => {
        const { read } = await start(retryPost);
        await platform.behave(fault);
        const response = await read('tools');
        const code = response.ok ? '' : ` ${((await response.json()) as { code: string }).code}`;
        expect(`${response.status}${code}, ${platform.attempts()}`).to.equal(answer);
      });
    }
  }
});
