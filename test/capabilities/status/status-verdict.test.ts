import { expect } from 'chai';
import { verdictOn } from '../../../src/capabilities/status/status-verdict.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import type { Events } from '../../../src/core/kernel/events.ts';
import { anchorsOf, readDoc } from '../../support/docs.ts';
import { eventually } from '../../support/eventually.ts';
import { ACME, openStatus, PAGE } from './open-status.ts';

const ANCHORS = anchorsOf(readDoc('docs/runbook.md'));
const TOOLS = { resource: 'tools', upstream: 'acme' };
const LIST = { ...TOOLS, pages: 1, items: 7, received: 9, excluded: 0, dropped: 0, defaulted: new Map() };

function times(count: number, work: () => void): void {
  for (let done = 0; done < count; done += 1) work();
}

/** A line of the verdict, 30 seconds after the events that cause it, and the section of the runbook that it links to. */
const LINES: Readonly<Record<string, readonly [alert: string, cause: (events: Events) => void]>> = {
  'red acme: breaker open for 30 s after 12 × 503': [
    'PorticoBreakerOpen',
    (events) => {
      events.pageFetched?.({ ...PAGE, status: 503, error: 'upstream_failed' });
      events.breakerChanged?.({ ...ACME, state: 'open', calls: 12, failures: 12 });
    },
  ],
  'red acme: breaker half-open for 30 s after 10 × ECONNREFUSED': [
    'PorticoBreakerOpen',
    (events) => {
      events.pageFetched?.({ ...PAGE, error: 'upstream_failed', causes: ['Error ECONNREFUSED'] });
      events.breakerChanged?.({ ...ACME, state: 'open', calls: 10, failures: 10 });
      events.breakerChanged?.({ ...ACME, state: 'half-open', calls: 0, failures: 0 });
    },
  ],
  'red acme: 6 of 10 calls queued': [
    'PorticoQueueing',
    (events) => events.bulkheadChanged?.({ ...ACME, running: 1, waiting: 6 }),
  ],
  'amber acme: p95 3.3 s in the last minute': [
    'PorticoReadsFailing',
    (events) => events.pageFetched?.({ ...PAGE, ms: 3000 }),
  ],
  'red tools: 1 of 2 reads failed in the last minute (overloaded)': [
    'PorticoReadsFailing',
    (events) => {
      for (const error of [undefined, 'overloaded']) events.readEnded?.({ resource: 'tools', error });
    },
  ],
  'red tools: 1 of 1 reads failed in the last minute (upstream_credential_rejected)': [
    'PorticoOwnCredentialRefused',
    (events) => events.readEnded?.({ resource: 'tools', error: 'upstream_credential_rejected' }),
  ],
  'amber tools: served stale for 30 s (upstream_timeout)': [
    'PorticoServingStale',
    (events) => {
      events.loadEnded?.({ ...TOOLS, ms: 1, error: 'upstream_timeout' });
      events.readEnded?.({ resource: 'tools', cache: 'stale', staleFor: 'upstream_timeout' });
    },
  ],
  'amber tools: name is empty in every item': [
    'PorticoMappingWarning',
    (events) => {
      events.listLoaded?.(LIST);
      events.mappingWarning?.({ ...TOOLS, finding: 'field_empty', field: 'name' });
    },
  ],
  'amber tools: name is empty in every item and was not before': [
    'PorticoMappingWarning',
    (events) => {
      events.listLoaded?.(LIST);
      events.mappingWarning?.({ ...TOOLS, finding: 'field_lost', field: 'name' });
    },
  ],
  'amber tools: category has values that are not in the table values, and had none before': [
    'PorticoMappingWarning',
    (events) => {
      events.listLoaded?.(LIST);
      events.mappingWarning?.({ ...TOOLS, finding: 'value_unmapped', field: 'category' });
    },
  ],
  'amber tools: 2 of 9 items could not be mapped': [
    'PorticoMappingWarning',
    (events) => events.listLoaded?.({ ...LIST, dropped: 2 }),
  ],
  'amber http listener: 95 of 100 connections open': [
    'PorticoConnectionsFull',
    (events) => events.connectionsChanged?.({ listener: 'http', open: 95, maxConnections: 100 }),
  ],
  'amber settings: refused for 30 s (scheme: missing)': [
    'PorticoSettingsRefused',
    (events) => events.settingsRefused?.({ issue: 'scheme: missing' }),
  ],
  'amber restart: pending for 30 s (cache, http)': [
    'PorticoSettingsRefused',
    (events) => {
      events.settingsRefused?.({ issue: 'scheme: missing' });
      events.settingsReloaded?.({ needRestart: ['cache', 'http'] });
    },
  ],
  'amber http.tls: file unusable for 30 s (keyFile is no key)': [
    'PorticoFileUnusable',
    (events) => events.filesChanged?.({ block: 'http.tls', key: 'keyFile', issue: 'is no key' }),
  ],
  'amber issuer: keys cannot be fetched for 30 s (no response)': [
    'PorticoCannotVerify',
    (events) => events.issuerKeysFetched?.({ keys: 0, error: new GatewayError('internal', { reason: 'no response' }) }),
  ],
  'red tokens: 1 could not be verified in the last minute': [
    'PorticoCannotVerify',
    (events) => events.credentialVerified?.({ verdict: 'undecided', by: 'signature', ms: 1 }),
  ],
  'amber Redis: unreachable for 30 s (timeout)': [
    'PorticoSharedStoreLost',
    (events) => events.sharedStoreChanged?.({ isUp: false, why: 'timeout' }),
  ],
  'amber Redis: 5 times connected in ten minutes': [
    'PorticoSharedStoreLost',
    (events) =>
      times(5, () => {
        for (const isUp of [false, true]) events.sharedStoreChanged?.({ isUp, why: 'closed' });
      }),
  ],
  'amber Redis: 1 commands refused in the last minute: its memory is full': [
    'PorticoSharedStoreLost',
    (events) => events.sharedCommandEnded?.({ command: 'put', outcome: 'full', ms: 1 }),
  ],
  'red Portico: 1 requests failed by a bug in ten minutes': [
    'PorticoInternalError',
    (events) => events.internalError?.({ requestId: 'r-1', stack: 'S' }),
  ],
  'amber cache: 11 of 20 stored lists evicted for others in ten minutes': [
    'PorticoSnapshotsCrowded',
    (events) => {
      times(20, () => events.snapshotStored?.({ resource: 'tools', bytes: 1, renewed: false }));
      times(11, () => events.snapshotDisplaced?.({ resource: 'tools' }));
    },
  ],
  'amber maxItems: 11 times reached in ten minutes': [
    'PorticoBoundReached',
    (events) => times(11, () => events.limitReached?.({ bound: 'maxItems', upstream: 'acme' })),
  ],
  'amber rate limits: 61 rejected in the last minute': [
    'PorticoBoundReached',
    (events) => times(61, () => events.limitReached?.({ bound: 'limits.perCaller' })),
  ],
};

describe('the verdict on a gateway', () => {
  for (const [line, [alert, cause]] of Object.entries(LINES)) {
    it(`has a line: ${line}`, async () => {
      const { events, status, lines, later } = openStatus();
      cause(events);
      later(30);
      expect(await lines()).to.deep.equal([line]);
      const [{ runbook = '', since } = { runbook: '', since: '' }] = (await status()).verdict.troubles;
      expect(runbook).to.equal(`docs/runbook.md#${alert.toLowerCase()}`);
      expect(ANCHORS).to.include(alert.toLowerCase());
      expect(since !== null).to.equal(line.includes(' for 30 s'));
    });
  }

  it('loses a line when its cause ends', async () => {
    const { events, lines } = openStatus();
    for (const state of ['open', 'half-open', 'closed'] as const) {
      events.breakerChanged?.({ ...ACME, state, calls: 1, failures: 1 });
    }
    events.readEnded?.({ resource: 'tools', cache: 'stale', staleFor: 'upstream_failed' });
    events.loadEnded?.({ ...TOOLS, ms: 1 });
    for (const issue of ['is empty', undefined]) events.filesChanged?.({ block: 'http.tls', issue });
    for (const isUp of [false, true]) events.sharedStoreChanged?.({ isUp });
    events.settingsRefused?.({ issue: 'scheme: missing' });
    events.settingsReloaded?.({ needRestart: [] });
    expect(await lines()).to.deep.equal([]);
  });

  it('loses the lines of files and of an issuer that settings no longer name', async () => {
    const { events, lines } = openStatus();
    for (const block of ['upstreams.acme.tls', 'upstreams.acme.credential.client', 'http.tls']) {
      events.filesChanged?.({ block, key: 'keyFile', issue: 'is empty' });
    }
    events.issuerKeysFetched?.({ keys: 0, error: new GatewayError('internal', { reason: 'no response' }) });
    events.settingsChanged?.({ applied: ['upstreams.acme', 'verification.issuer'], needRestart: ['http.tls'] });
    expect(await lines()).to.deep.equal(['amber http.tls: file unusable for 0 s (keyFile is empty)']);
  });

  it('counts no read that fails because of its caller', async () => {
    const { events, lines } = openStatus();
    for (const error of ['credential_rejected', 'access_denied', 'cancelled', 'rate_limited']) {
      events.readEnded?.({ resource: 'tools', error });
    }
    expect(await lines()).to.deep.equal([]);
  });

  it('no longer has what was counted in the last minute', async () => {
    const { events, lines, later } = openStatus();
    events.readEnded?.({ resource: 'tools', error: 'internal' });
    later(60);
    expect(await lines()).to.deep.equal([]);
  });

  it('has a line for a certificate that expires within 14 days, which is red within three', async () => {
    const facts = await openStatus().status();
    const lines = [20, 10, 2.5, -1].map((days) => {
      const to = new Date(Date.parse(facts.at) + days * 86_400_000).toISOString();
      const { troubles } = verdictOn(
        { ...facts, process: { ...facts.process, certificates: [{ name: 'c', to }] } },
        [],
      );
      return troubles.map(({ level, text }) => `${level} ${text}`).join();
    });
    expect(lines).to.deep.equal([...['', 'amber c: expires in 10 d', 'red c: expires in 2 d', 'red c: expired']]);
  });

  it('has dropped lines for ten minutes', async () => {
    const { events, dropped, lines, later } = openStatus();
    events.listening?.({ url: 'u', resources: [] });
    Object.assign(dropped, { log: 3 });
    await eventually(async () => (await lines()).length > 0);
    expect(await lines()).to.deep.equal(['amber log: 3 lines dropped']);
    later(600);
    expect(await lines()).to.deep.equal([]);
    events.drained?.({ whole: true });
  });
});
