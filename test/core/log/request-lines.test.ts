import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import type { RequestRecord } from '../../../src/core/kernel/request-record.ts';
import { logEvents } from '../../../src/core/log/log.ts';
import type { Logger } from '../../../src/core/log/logger.ts';
import { SEEDED } from '../../support/seed.ts';
import { captureLog } from './captured-log.ts';

const some = <T>(...values: readonly T[]) => fc.constantFrom(undefined, ...values);
const cause = Object.assign(new Error('it said "no"'), { code: 'ECONNRESET' });
const failed = new GatewayError('upstream_failed', { upstream: 'platform', reason: 'it said "no"', cause });

const requests: fc.Arbitrary<RequestRecord> = fc.record({
  edge: fc.constant('http' as const),
  requestId: fc.oneof(fc.uuid(), fc.stringMatching(/^[A-Za-z0-9._~:/+=@-]{1,128}$/)),
  begun: fc.constant(0),
  ms: fc.double({ min: 0, max: 1e6, noNaN: true }),
  outcome: fc.constantFrom('ok', 'not_modified', 'upstream_failed'),
  bytes: fc.nat(),
  method: some('GET', 'M-SEARCH'),
  route: some('/mcp', '/mcp/v1/resources/read'),
  rpc: some('resources/read', 'tools/call'),
  tool: some('list_tools', 'list_workflows'),
  resource: some('tools', 'workflows'),
  status: some(200, 304, 502),
  cache: some('hit', 'miss'),
  callerKey: some('abcdefghijklmnop', 'qrstuvwxyzabcdef'),
  traceId: some('4bf92f3577b34da6a3ce929d0e0e4736'),
  upstreamMs: some(1, 2),
  error: some(failed),
  staleFor: some(failed),
});

/** Requests that are alike but for a field here and there: of kinds that come again, and of kinds that nearly do. */
const alike = fc
  .record({
    some: fc.array(requests, { minLength: 2, maxLength: 3 }),
    picks: fc.array(fc.record({ one: fc.nat(2), other: fc.nat(2), field: fc.nat(20) }), {
      minLength: 2,
      maxLength: 40,
    }),
  })
  .map(({ some, picks }) =>
    picks.map(({ one, other, field }) => {
      const [first, second] = [one, other].map((index) => some[index % some.length] as RequestRecord);
      const keys = Object.keys(first as RequestRecord) as (keyof RequestRecord)[];
      const key = keys[field % keys.length] as keyof RequestRecord;
      return { ...first, [key]: second?.[key] } as RequestRecord;
    }),
  );

/** What the log says of them, without the time. */
function written(records: readonly RequestRecord[], { byPino }: { readonly byPino: boolean }): string {
  const { logger, text } = captureLog('info');
  // Pino's own methods, with nothing of ours beside them.
  const events = logEvents(byPino ? Object.assign(logger, { writeText: undefined }) : logger);
  for (const record of records) events.requestEnded?.(record);
  return text().replaceAll(/"time":"[^"]*"/g, '"time":""');
}

describe('the lines of requests', () => {
  it(`are, letter by letter, what pino makes of them, however many kinds there were before ${SEEDED}`, () => {
    fc.assert(
      fc.property(fc.oneof(fc.array(requests, { minLength: 1, maxLength: 60 }), alike), (records) => {
        expect(written(records, { byPino: false })).to.equal(written(records, { byPino: true }));
      }),
      { numRuns: 300 },
    );
  });

  it('are whole in a logger that makes no others', () => {
    const lines: object[] = [];
    const take = (fields: object) => lines.push(fields);
    const logger = { debug: take, info: take, warn: take, error: take, fatal: take } as unknown as Logger;
    const record = {
      edge: 'http',
      requestId: 'r-1',
      begun: 0,
      ms: 0,
      outcome: 'ok',
      bytes: 3,
      resource: 'tools',
    } as const;
    logEvents(logger).requestEnded?.({ ...record });
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ requestId: 'r-1', outcome: 'ok', bytes: 3, resource: 'tools' });
  });

  it('go on where the level was changed meanwhile, and are left out where it leaves them out', () => {
    const { logger, events, lines } = captureLog('info');
    const record = { edge: 'http', requestId: 'r-1', begun: 0, ms: 0, outcome: 'ok', bytes: 3 } as const;
    for (const level of ['info', 'error', 'debug']) {
      logger.level = level;
      events.requestEnded?.({ ...record, requestId: level });
    }
    expect(lines().map(({ requestId }) => requestId)).to.deep.equal(['info', 'debug']);
  });
});
