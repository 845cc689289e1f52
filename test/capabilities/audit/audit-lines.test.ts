import { expect } from 'chai';
import { type Auditee, auditLines } from '../../../src/capabilities/audit/audit-lines.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import type { RequestRecord } from '../../../src/core/kernel/request-record.ts';
import { captureLog } from '../../core/log/captured-log.ts';

const request = (more: Partial<RequestRecord> = {}): RequestRecord => ({
  ...{ edge: 'http', requestId: 'r-1', begun: 0, ms: 0, outcome: 'ok', bytes: 0 },
  ...more,
});

const NAMED: Auditee = { from: '203.0.113.7', token: 'a name' };

function linesOf(record: RequestRecord, auditee: Auditee | undefined = NAMED): Record<string, unknown>[] {
  const { logger, lines } = captureLog('info');
  auditLines(logger, () => auditee).requestEnded?.(record);
  return lines().map(({ time, ...line }) => line);
}

describe('the audit', () => {
  it('has a line for a read: who, what, from where, outcome', () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    expect(
      linesOf(request({ resource: 'tools', status: 200, cache: 'hit', callerKey: 'of the process', traceId })),
    ).to.deep.equal([
      {
        level: 'info',
        outcome: 'ok',
        resource: 'tools',
        from: '203.0.113.7',
        token: 'a name',
        edge: 'http',
        status: 200,
        cache: 'hit',
        requestId: 'r-1',
        traceId,
        msg: 'audit',
      },
    ]);
  });

  it('has one for each read of a batch, and none for its other members', () => {
    const members = [
      { rpc: 'resources/read', tool: undefined, resource: 'tools', outcome: 'ok' },
      { rpc: 'ping', tool: undefined, resource: undefined, outcome: 'ok' },
      { rpc: 'tools/call', tool: 'list_projects', resource: 'projects', outcome: 'access_denied' },
    ];
    expect(
      linesOf(request({ rpc: 'batch', resource: 'projects', members })).map(({ rpc, resource, outcome }) => [
        rpc,
        resource,
        outcome,
      ]),
    ).to.deep.equal([
      ['resources/read', 'tools', 'ok'],
      ['tools/call', 'projects', 'access_denied'],
    ]);
  });

  it('has one for a request that was rejected before it was known what it reads', () => {
    const error = new GatewayError('credential_missing');
    const rejected = { outcome: error.code, error };
    const from = { from: '203.0.113.7' };
    for (const rpc of [undefined, 'batch']) {
      expect(linesOf(request({ ...rejected, rpc }), from)).to.have.length(1);
    }
    expect(linesOf(request(rejected), from)[0])
      .to.include({ outcome: 'credential_missing', from: '203.0.113.7' })
      .and.not.have.property('token');
  });

  it('has none for a method that returns no item', () => {
    for (const rpc of ['initialize', 'tools/list', 'resources/list', 'other']) {
      expect(linesOf(request({ rpc }))).to.deep.equal([]);
    }
  });
});
