import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Authority, createAuthority, writePem } from '../../support/certificates.ts';
import { ownCredential, type Scenario, type Scenarios, sendReads, writeSecret } from './scene.ts';

/** The admin listener is scraped, and the public one gets a certificate of so many days. */
function expiringIn(days: number, fires: readonly string[], shows: RegExp): Scenario {
  let authority: Authority;
  return {
    async settings({ folder }) {
      authority = await createAuthority();
      const { cert: certFile, key: keyFile } = writePem(folder, await authority.issue());
      return { http: { tls: { certFile, keyFile } } };
    },
    reads: [],
    provoke: async ({ folder }) => void writePem(folder, await authority.issue({ days: [-1, days] })),
    faulty: 60,
    fires,
    shows: [shows],
  };
}

/** Files that cannot be used, or not for long, and a log that is not read: the two that need a processor do not run at once. */
export const FILES: Scenarios = {
  'a settings file with a mistake': {
    async provoke({ file, portico }) {
      await writeFile(file, 'upstreams: []');
      portico.child.kill('SIGHUP');
    },
    fires: ['PorticoSettingsRefused'],
    shows: [/^settings: refused for \d+ s: \S+portico\.yaml:1:1: upstreams: expected a block of keys, got a list$/],
  },
  'a secret file without content, which two workers read': {
    args: ['--workers', '2'],
    // At once, on two connections.
    reads: ['tools', 'projects'],
    settings: ownCredential,
    provoke: ({ folder }) => writeFile(join(folder, 'secret'), ''),
    faulty: 60,
    fires: ['PorticoFileUnusable'],
    shows: [/^platform: secret file unusable for \d+ s \(is empty\)$/],
  },
  'a certificate that is renewed by one of ten days': expiringIn(
    10,
    ['PorticoCertificateExpiring'],
    /^http\.tls\.certFile: expires in 9 d$/,
  ),
  'a certificate that is renewed by one of two days': {
    ...expiringIn(
      2,
      ['PorticoCertificateExpiring', 'PorticoCertificateAlmostExpired'],
      /^http\.tls\.certFile: expires in 1 d$/,
    ),
    withoutLine: { PorticoCertificateExpiring: 'the line of the other alert has the number of days' },
  },
  'a log that is not read': {
    provoke({ portico, url }) {
      portico.child.stdout.pause();
      sendReads(url, 40);
    },
    faulty: 100,
    fires: ['PorticoLogLinesDropped'],
    shows: [/^log: \d+ lines dropped$/],
  },
  'an audit file that cannot be written': {
    settings: async ({ folder }) => ({
      audit: { enabled: true, keyFile: await writeSecret(folder), file: join(folder, 'audit.log') },
    }),
    provoke({ portico, url }) {
      expect(spawnSync('prlimit', ['--pid', `${portico.child.pid}`, '--fsize=1:unlimited']).status).to.equal(0);
      sendReads(url, 40);
    },
    faulty: 100,
    fires: ['PorticoAuditLinesDropped'],
    shows: [/^audit: \d+ lines dropped$/],
  },
};
