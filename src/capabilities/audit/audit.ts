import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { withChecks } from '../../core/config/schema/cross-check.ts';
import { readKeyFile } from '../../core/credentials/files/secret-file.ts';
import type { Credential, RequestRecord } from '../../core/kernel/caller.ts';
import { escapeHidden } from '../../core/log/pretty.ts';
import { openFilesOf } from '../../core/secret-files.ts';
import { defineCapability } from '../capability.ts';
import { type Auditee, ocsfEvent, plainLine } from './audit-line.ts';

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
    format: z
      .enum(['plain', 'ocsf'])
      .default('plain')
      .describe(
        'Form of a line: fields in the words of the log, or an event of OCSF, API Activity (6003), for a SIEM.',
      ),
  }),
  (audit, report) => {
    if (audit.enabled && audit.keyFile === undefined) report(['keyFile'], 'is required if enabled is true');
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
  open({ enabled, keyFile = '', format }, context) {
    if (!enabled) return undefined;
    const { destination, now } = context;
    const key = openFilesOf(['audit'], context, () => readKeyFile(keyFile, 'keyFile'));
    const lineOf = format === 'ocsf' ? ocsfEvent : plainLine;
    const auditees = new WeakMap<RequestRecord, Auditee>();
    return {
      listeners: [
        {
          requestEnded(request) {
            const auditee = auditees.get(request);
            if (auditee === undefined) return;
            // A request that was rejected before it was known what it reads has a line, too.
            if (request.rpc !== undefined && !READS.has(request.rpc)) return;
            destination.write(`${escapeHidden(JSON.stringify(lineOf(request, auditee, now())))}\n`);
          },
        },
      ],
      onRequest(request, operation) {
        if (operation.isRead === true) auditees.set(request.record, { from: request.clientAddress });
      },
      onCaller(record, identity) {
        const auditee: Auditee | undefined = record.edge === 'stdio' ? {} : auditees.get(record);
        if (auditee === undefined) return;
        auditee.subject = identity.verified?.subject;
        auditee.token = nameOf(identity.credential, key);
        auditees.set(record, auditee);
      },
    };
  },
});

/** Equal on all replicas that have the same key. Without the key, it cannot be matched with a token. */
function nameOf(token: Credential, key: Credential): string {
  return createHmac('sha256', key.reveal()).update(token.reveal()).digest('base64url');
}

const READS: ReadonlySet<string> = new Set(['resources/read', 'tools/call']);
