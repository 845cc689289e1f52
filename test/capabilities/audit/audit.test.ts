import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { auditCapability } from '../../../src/capabilities/audit/audit.ts';
import { parseConfig } from '../../../src/core/config/load-config.ts';
import type { Identity } from '../../../src/core/credentials/authenticate.ts';
import type { Contribution } from '../../../src/core/hooks.ts';
import type { Exchange } from '../../../src/core/http/exchange.ts';
import type { Operation } from '../../../src/core/http/operations/operation.ts';
import { limitsWith } from '../../../src/core/kernel/limits.ts';
import type { RequestRecord } from '../../../src/core/kernel/request-record.ts';
import { RESOURCES } from '../../../src/core/resources/index.ts';
import type { Upstream } from '../../../src/core/upstream/upstream.ts';
import { captureLog } from '../../core/log/captured-log.ts';
import { callerWith } from '../../support/authorization/caller.ts';
import { inFolder } from '../../support/process/process.ts';

const BASE = { baseUrl: 'https://api.example' };
const read = { isRead: true } as Operation;
const IDENTITY: Identity = callerWith();

/** The members of an exchange that determine its address. */
function exchangeFrom(remoteAddress: string | undefined, forwardedFor?: string): Exchange {
  const about = { edge: 'http', requestId: 'r', begun: 0, ms: 0, outcome: 'ok', bytes: 0 };
  return { ...about, req: { socket: { remoteAddress } }, fields: { forwardedFor } } as unknown as Exchange;
}

async function withAudit(use: (audit: Contribution, lines: () => Record<string, unknown>[]) => void): Promise<void> {
  await inFolder(async (folder) => {
    const keyFile = join(folder, 'key');
    await writeFile(keyFile, 'k'.repeat(32));
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
    if (audit === undefined) throw new Error('the audit is off');
    use(audit, lines);
  });
}

/** The line of one request. */
function lineOf(audit: Contribution, lines: () => Record<string, unknown>[], record: RequestRecord) {
  for (const listener of audit.listeners ?? []) listener.requestEnded?.(record);
  return lines().at(-1);
}

describe('the audit of a request', () => {
  it('has the whole client address, as far as trusted proxies report it', async () => {
    await withAudit((audit, lines) => {
      const addressOf = (...from: Parameters<typeof exchangeFrom>) => {
        const exchange = exchangeFrom(...from);
        audit.onRequest?.(exchange, read);
        return lineOf(audit, lines, exchange)?.['from'];
      };
      expect(addressOf('192.0.2.1', '203.0.113.7')).to.equal('192.0.2.1');
      expect(addressOf('10.0.0.1', '198.51.100.1, 2001:db8::1:2')).to.equal('2001:db8::1:2');
      expect(addressOf('::ffff:192.0.2.1')).to.equal('192.0.2.1');
      expect(addressOf(undefined)).to.equal('unix');
    });
  });

  it('has the name of the token, and the subject of a verified one', async () => {
    const verified = { subject: 'alice', subjectKey: 'key of alice', scopes: new Set<string>() };
    await withAudit((audit, lines) => {
      for (const [identity, subject] of [
        [IDENTITY, undefined],
        [{ ...IDENTITY, verified }, 'alice'],
      ] as const) {
        const exchange = exchangeFrom('192.0.2.1');
        audit.onRequest?.(exchange, read);
        audit.onCaller?.(exchange, identity);
        const line = lineOf(audit, lines, exchange);
        expect(line?.['subject']).to.equal(subject);
        expect(line?.['token']).to.match(/^[\w-]{43}$/);
      }
    });
  });

  it('has no line for an operation that reads nothing', async () => {
    await withAudit((audit, lines) => {
      const exchange = exchangeFrom('192.0.2.1');
      audit.onRequest?.(exchange, {} as Operation);
      audit.onCaller?.(exchange, IDENTITY);
      expect(lineOf(audit, lines, exchange)).to.equal(undefined);
    });
  });

  it('is off unless settings enable it', () => {
    expect(auditCapability.open({ enabled: false }, {} as never)).to.equal(undefined);
  });
});
