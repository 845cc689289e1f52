import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { auditCapability } from '../../../src/capabilities/audit/audit.ts';
import type { Identity } from '../../../src/core/credentials/authenticate.ts';
import type { HttpRequest } from '../../../src/core/http/http-request.ts';
import type { Operation } from '../../../src/core/http/operations/operation.ts';
import type { RequestRecord } from '../../../src/core/kernel/caller.ts';
import { limitsWith } from '../../../src/core/kernel/limits.ts';
import { RESOURCES } from '../../../src/core/resources/index.ts';
import type { Upstream } from '../../../src/core/upstream/upstream.ts';
import { captureLog } from '../../core/log/captured-log.ts';
import { callerWith, TOKEN } from '../../support/authorization/caller.ts';
import { parseConfig } from '../../support/limits.ts';
import { inFolder } from '../../support/process/process.ts';

const BASE = { baseUrl: 'https://api.example' };
const KEY = 'k'.repeat(32);
const IDENTITY: Identity = callerWith();

/** A request from this address. */
function requestFrom(
  remoteAddress: string | undefined,
  forwardedFor?: string,
  facts?: Partial<RequestRecord>,
): HttpRequest {
  const record = { edge: 'http', requestId: 'r', begun: 0, ms: 0, outcome: 'ok', bytes: 0, ...facts };
  return { record, req: { socket: { remoteAddress }, headers: { 'x-forwarded-for': forwardedFor } } } as never;
}

/** Records one request, which comes from an address and a caller, if it names one, and returns its lines. */
type LinesOf = (request: HttpRequest, identity?: Identity) => Record<string, unknown>[];

async function withAudit(use: (linesOf: LinesOf) => void): Promise<void> {
  await inFolder(async (folder) => {
    const keyFile = join(folder, 'key');
    await writeFile(keyFile, KEY);
    const { logger, lines, destination } = captureLog('info');
    const config = parseConfig({
      upstreams: { projects: BASE, workflows: BASE, tools: BASE },
      http: { trustedProxies: ['10.0.0.0/8'] },
    });
    const context = {
      ...{ config, limits: limitsWith(), events: {}, readings: {}, logger, destination },
      ...{ now: Date.now, resources: RESOURCES, counts: undefined, keyOf: String },
      wrapClient: (client: Upstream) => client,
    };
    const audit = auditCapability.open({ enabled: true, keyFile }, context);
    use((request, identity) => {
      const before = lines().length;
      audit?.onRequest?.(request, { isRead: true } as Operation);
      if (identity !== undefined) audit?.onCaller?.(request.record, identity);
      for (const listener of audit?.listeners ?? []) listener.requestEnded?.(request.record);
      return lines()
        .slice(before)
        .map(({ time, ...line }) => line);
    });
  });
}

describe('the audit', () => {
  it('has a line for a read: who, what, from where, outcome', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const verified = { subject: 'alice', subjectKey: 'key of alice', scopes: new Set<string>() };
    await withAudit((linesOf) => {
      const facts = { resource: 'tools', status: 200, cache: 'hit', callerKey: 'of the process', traceId };
      const request = () => requestFrom('192.0.2.1', undefined, facts);
      const [{ token, ...line } = {}] = linesOf(request(), { ...IDENTITY, verified });
      expect(token).to.equal(createHmac('sha256', KEY).update(TOKEN).digest('base64url'));
      expect(line).to.deep.equal({
        ...{ level: 'info', outcome: 'ok', resource: 'tools', from: '192.0.2.1', subject: 'alice' },
        ...{ edge: 'http', status: 200, cache: 'hit', requestId: 'r', traceId, msg: 'audit' },
      });
      expect(linesOf(request(), IDENTITY)[0]).to.not.have.property('subject');
    });
  });

  it('has the whole client address, as far as trusted proxies report it', async () => {
    await withAudit((linesOf) => {
      const addressOf = (...from: Parameters<typeof requestFrom>) => linesOf(requestFrom(...from))[0]?.['from'];
      expect(addressOf('192.0.2.1', '203.0.113.7')).to.equal('192.0.2.1');
      expect(addressOf('10.0.0.1', '198.51.100.1, 2001:db8::1:2')).to.equal('2001:db8::1:2');
      expect(addressOf('::ffff:192.0.2.1')).to.equal('192.0.2.1');
      expect(addressOf(undefined)).to.equal('unix');
    });
  });
});
