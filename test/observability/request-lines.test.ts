import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../src/kernel/errors.ts';
import { logEvents } from '../../src/observability/log.ts';
import type { Logger } from '../../src/observability/logger.ts';
import type { RequestRecord } from '../../src/observability/request-record.ts';
import { SEEDED } from '../support/seed.ts';
import { captureLog } from './captured-log.ts';

const some = <T>(...values: readonly T[]) => fc.constantFrom(undefined, ...values);
const failed = new GatewayError('upstream_failed', { upstream: 'platform', reason: 'status 500' });

const requests: fc.Arbitrary<RequestRecord> = fc.record({
  edge: fc.constant('http' as const),
  requestId: fc.uuid(),
  begun: fc.constant(0),
  outcome: fc.constantFrom('ok', 'not_modified', 'upstream_failed'),
  bytes: fc.nat(),
  method: some('GET', 'POST'),
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

describe('the lines of requests', () => {
  it(`say the same, whatever requests there were before, however many kinds of them ${SEEDED}`, () => {
    fc.assert(
      fc.property(fc.array(requests, { minLength: 1, maxLength: 60 }), (records) => {
        const together = captureLog('info');
        for (const record of records) together.events.requestEnded?.(record);
        const alone = records.flatMap((record) => {
          const { events, lines } = captureLog('info');
          events.requestEnded?.(record);
          return lines();
        });
        const without = (lines: Record<string, unknown>[]) => lines.map(({ time: _time, ms: _ms, ...line }) => line);
        expect(without(together.lines())).to.deep.equal(without(alone));
      }),
      { numRuns: 50 },
    );
  });

  it('are whole in a logger that makes no others', () => {
    const lines: object[] = [];
    const take = (fields: object) => lines.push(fields);
    const logger = { debug: take, info: take, warn: take, error: take, fatal: take } as unknown as Logger;
    const record = { edge: 'http', requestId: 'r-1', begun: 0, outcome: 'ok', bytes: 3, resource: 'tools' } as const;
    logEvents(logger).requestEnded?.({ ...record });
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ requestId: 'r-1', outcome: 'ok', bytes: 3, resource: 'tools' });
  });

  it('go on where the level was changed meanwhile, and are left out where it leaves them out', () => {
    const { logger, events, lines } = captureLog('info');
    const record = { edge: 'http', requestId: 'r-1', begun: 0, outcome: 'ok', bytes: 3 } as const;
    for (const level of ['info', 'error', 'debug']) {
      logger.level = level;
      events.requestEnded?.({ ...record, requestId: level });
    }
    expect(lines().map(({ requestId }) => requestId)).to.deep.equal(['info', 'debug']);
  });
});
