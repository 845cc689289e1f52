import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import { auditCapability } from '../../../src/capabilities/audit/audit.ts';
import type { Identity } from '../../../src/core/credentials/authenticate.ts';
import type { HttpRequest } from '../../../src/core/http/http-request.ts';
import type { Operation } from '../../../src/core/http/operations/operation.ts';
import type { RequestRecord } from '../../../src/core/kernel/caller.ts';
import { limitsWith } from '../../../src/core/kernel/limits.ts';
import { readVersion } from '../../../src/core/kernel/version.ts';
import { RESOURCES } from '../../../src/core/resources/index.ts';
import type { Upstream } from '../../../src/core/upstream/upstream.ts';
import { captureLog } from '../../core/log/captured-log.ts';
import { callerWith, TOKEN } from '../../support/authorization/caller.ts';
import { parseConfig } from '../../support/limits.ts';
import { newFolder } from '../../support/process/process.ts';
import { API_ACTIVITY } from './api-activity.ts';

const BASE = { baseUrl: 'https://api.example' };
const KEY = 'k'.repeat(32);
const IDENTITY: Identity = callerWith();

/** A request from this address. */
function requestFrom(clientAddress: string, facts?: Partial<RequestRecord>): HttpRequest {
  const record = { edge: 'http', requestId: 'r', begun: 0, ms: 0, outcome: 'ok', bytes: 0, ...facts };
  return { record, clientAddress } as never;
}

/** Records one request, which comes from an address and a caller, if it names one, and returns its lines. */
type LinesOf = (request: HttpRequest, identity?: Identity) => Record<string, unknown>[];

async function withAudit(
  use: (linesOf: LinesOf, text: () => string) => void,
  format: 'plain' | 'ocsf' = 'plain',
): Promise<void> {
  const folder = await newFolder();
  const keyFile = join(folder, 'key');
  await writeFile(keyFile, KEY);
  const { logger, lines, text, destination } = captureLog('info');
  const config = parseConfig({
    upstreams: { projects: BASE, workflows: BASE, tools: BASE },
  });
  const context = {
    ...{ config, limits: limitsWith(), events: {}, logger, destination },
    ...{ now: Date.now, resources: RESOURCES, counts: undefined, keyOf: String },
    wrapClient: (client: Upstream) => client,
  };
  const audit = auditCapability.open({ enabled: true, keyFile, format }, context);
  use((request, identity) => {
    const before = lines().length;
    audit?.onRequest?.(request, { isRead: true } as Operation);
    if (identity !== undefined) audit?.onCaller?.(request.record, identity);
    for (const listener of audit?.listeners ?? []) listener.requestEnded?.(request.record);
    return lines().slice(before);
  }, text);
}

describe('the audit', () => {
  it('has a line for a read: who, what, from where, outcome', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const verified = { subject: 'alice', subjectKey: 'key of alice', scopes: new Set<string>() };
    await withAudit((linesOf) => {
      const facts = { resource: 'tools', status: 200, cache: 'hit', callerKey: 'of the process', traceId };
      const request = () => requestFrom('192.0.2.1', facts);
      const [{ token, time, ...line } = {}] = linesOf(request(), { ...IDENTITY, verified });
      expect(token).to.equal(createHmac('sha256', KEY).update(TOKEN).digest('base64url'));
      expect(line).to.deep.equal({
        ...{ level: 'info', outcome: 'ok', resource: 'tools', from: '192.0.2.1', subject: 'alice' },
        ...{ edge: 'http', status: 200, cache: 'hit', requestId: 'r', traceId, msg: 'audit' },
      });
      expect(linesOf(request(), IDENTITY)[0]).to.not.have.property('subject');
    });
  });
});

describe('the audit as OCSF', () => {
  const ajv = new Ajv2020();
  addFormats.default(ajv);
  const isApiActivity = ajv.compile(API_ACTIVITY);
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const verified = { subject: 'alice', subjectKey: 'key of alice', scopes: new Set<string>() };
  const token = createHmac('sha256', KEY).update(TOKEN).digest('base64url');
  const READ = {
    method: 'GET',
    route: '/mcp/v1/resources/read',
    resource: 'tools',
    status: 200,
    cache: 'hit',
  } as const;

  it('has an event with actor, resource, outcome, source and hash of the token for a read', async () => {
    await withAudit((linesOf) => {
      const before = Date.now();
      const [{ time, ...event } = {}] = linesOf(requestFrom('192.0.2.1', { ...READ, traceId }), {
        ...IDENTITY,
        verified,
      });
      expect(time).to.be.within(before, Date.now());
      expect(event).to.deep.equal({
        ...{ category_uid: 6, class_uid: 6003, activity_id: 2, type_uid: 600302, severity_id: 1 },
        ...{ status_id: 1, status_code: 'ok' },
        metadata: {
          version: '1.6.0',
          product: { name: 'Portico', vendor_name: 'Portico', version: readVersion() },
          ...{ log_name: 'audit', correlation_uid: traceId },
        },
        actor: { user: { uid: 'alice' }, session: { credential_uid: token } },
        src_endpoint: { ip: '192.0.2.1' },
        api: { operation: 'GET /mcp/v1/resources/read', request: { uid: 'r' }, response: { code: 200 } },
        resources: [{ name: 'tools' }],
        unmapped: { edge: 'http', cache: 'hit' },
      });
    }, 'ocsf');
  });

  it('has what the class requires for any caller, address and outcome', async () => {
    await withAudit((linesOf) => {
      const addresses = ['192.0.2.1', '2001:db8::1', 'unix'];
      const callers = [undefined, IDENTITY, { ...IDENTITY, verified }];
      const outcomes: Partial<RequestRecord>[] = [
        READ,
        { ...READ, rpc: 'tools/call', tool: 'list_installed_tools', outcome: 'not_modified' },
        { method: 'POST', route: '/mcp', status: 400, outcome: 'parse_error' },
        { ...READ, status: 401, outcome: 'credential_rejected' },
        { method: 'GET', route: '/mcp/v1/resources/read', outcome: 'caller_gone' },
        { edge: 'stdio', rpc: 'resources/read', resource: 'tools' },
      ];
      for (const address of addresses)
        for (const caller of callers)
          for (const facts of outcomes) {
            const [event = {}, ...more] = linesOf(requestFrom(address, facts), caller);
            expect(more).to.deep.equal([]);
            isApiActivity(event);
            expect(isApiActivity.errors, JSON.stringify(event)).to.equal(null);
            const isSuccess = ['ok', 'not_modified', undefined].includes(facts.outcome);
            expect(event['status_id']).to.equal(isSuccess ? 1 : 2);
          }
    }, 'ocsf');
  });

  it('escapes what a terminal obeys', async () => {
    await withAudit((linesOf, text) => {
      linesOf(requestFrom('192.0.2.1', READ), {
        ...IDENTITY,
        verified: { ...verified, subject: 'a\u202eb' },
      });
      expect(text()).to.contain('a\\u202eb').and.not.contain('\u202e');
    }, 'ocsf');
  });
});
