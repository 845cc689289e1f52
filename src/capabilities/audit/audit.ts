import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { ConfigError } from '../../core/config/config-error.ts';
import { withChecks } from '../../core/config/schema/cross-check.ts';
import { readKeyFile } from '../../core/credentials/files/secret-file.ts';
import { createClientAddress } from '../../core/http/request/client-address.ts';
import type { Credential, RequestRecord } from '../../core/kernel/caller.ts';
import type { Events } from '../../core/kernel/events.ts';
import { createLogger, type Logger } from '../../core/log/logger.ts';
import { defineCapability } from '../capability.ts';

const AuditSettings = withChecks(
  z.strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe('Whether each read is recorded in a line: who, what, from where, outcome.'),
    keyFile: z
      .string()
      .min(1)
      .optional()
      .describe(
        'File with the key of the hash that identifies a token in the lines: one line of at least 32 characters, the same for all replicas. Required if enabled.',
      ),
  }),
  (audit, report) => {
    if (audit?.enabled === true && audit.keyFile === undefined) report(['keyFile'], 'is required if enabled is true');
  },
);

/** A line for each read: who, what, from where, outcome (docs/operations.md). */
export const auditCapability = defineCapability({
  settings: {
    key: 'audit',
    schema: AuditSettings.prefault({}).describe('The audit log: who has read what.'),
    needsRestart: true,
  },
  purposes: ['serve', 'stdio'],
  check(_, { enabled, keyFile = '' }) {
    if (enabled) readAuditKey(keyFile);
  },
  open({ enabled, keyFile = '' }, { config, destination }) {
    if (!enabled) return undefined;
    const key = readAuditKey(keyFile);
    // Written whatever the level of the log is.
    const lines = createLogger({ level: 'info', format: config.log.format, destination });
    let addressOf = createClientAddress(config.http.trustedProxies, { whole: true });
    const auditees = new WeakMap<RequestRecord, Auditee>();
    return {
      listeners: [auditLines(lines, (request) => auditees.get(request))],
      onRequest(request, operation) {
        if (operation.isRead === true) auditees.set(request.record, { from: addressOf(request) });
      },
      onCaller(record, identity) {
        const auditee: Auditee | undefined = record.edge === 'stdio' ? {} : auditees.get(record);
        if (auditee === undefined) return;
        auditee.subject = identity.verified?.subject;
        auditee.token = nameOf(identity.credential, key);
        auditees.set(record, auditee);
      },
      onReload({ http: { trustedProxies } }) {
        addressOf = createClientAddress(trustedProxies, { whole: true });
      },
    };
  },
});

/** Throws `ConfigError` where the file holds no usable key. */
function readAuditKey(path: string): Credential {
  const read = readKeyFile(path, 'keyFile');
  if (!('issue' in read)) return read.key;
  throw new ConfigError([{ path: ['audit', read.key ?? 'keyFile'], message: read.issue }]);
}

/** Equal on all replicas that have the same key. Without the key, it cannot be matched with a token. */
function nameOf(token: Credential, key: Credential): string {
  return createHmac('sha256', key.reveal()).update(token.reveal()).digest('base64url');
}

interface Auditee {
  readonly from?: string | undefined;
  subject?: string | undefined;
  token?: string | undefined;
}

const READS: ReadonlySet<string> = new Set(['resources/read', 'tools/call']);

/** Writes a line for each read, and for each request that was rejected before it was known what it reads. */
function auditLines(logger: Logger, auditeeOf: (request: RequestRecord) => Auditee | undefined): Events {
  return {
    requestEnded(request) {
      const auditee = auditeeOf(request);
      if (auditee === undefined) return;
      if (request.rpc === undefined || READS.has(request.rpc)) logger.info(lineOf(request, auditee), 'audit');
    },
  };
}

function lineOf(
  { edge, requestId, traceId, status, cache, outcome, resource, rpc, tool }: RequestRecord,
  auditee: Auditee,
): object {
  return { outcome, resource, ...auditee, edge, rpc, tool, status, cache, requestId, traceId };
}
