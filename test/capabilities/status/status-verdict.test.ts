import { expect } from 'chai';
import { certificateTroubles } from '../../../src/capabilities/status/gateway-status.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import type { Events } from '../../../src/core/kernel/events.ts';
import { anchorsOf, readDoc } from '../../support/docs.ts';
import { ACME, openStatus } from './open-status.ts';

const ANCHORS = anchorsOf(readDoc('docs/runbook.md'));
const TOOLS = { resource: 'tools', upstream: 'acme' };
const BREAKER = { ...ACME, calls: 12, failures: 12, reason: '12 of 12 calls failed' };
const LIST = { ...TOOLS, pages: 1, items: 7, received: 9, excluded: 0, dropped: 0, defaulted: new Map() };

/** A line of the verdict, 30 seconds after the events that cause it, and the section of the runbook that it links to. */
const LINES: Readonly<Record<string, readonly [alert: string, cause: (events: Events) => void]>> = {
  'red acme: breaker open (12 of 12 calls failed) for 30 s': [
    'PorticoBreakerOpen',
    (events) => {
      for (const state of ['open', 'half-open'] as const) events.breakerChanged?.({ ...BREAKER, state });
    },
  ],
  'red tools: 1 of 2 reads failed in the last minute (overloaded)': [
    'PorticoReadsFailing',
    (events) => {
      for (const error of [undefined, 'overloaded']) events.readEnded?.({ resource: 'tools', error });
    },
  ],
  'red tools: 3 of 3 reads failed in the last minute (overloaded)': [
    'PorticoReadsFailing',
    (events) => {
      for (const error of ['overloaded', 'overloaded', 'upstream_credential_rejected']) {
        events.readEnded?.({ resource: 'tools', error });
      }
    },
  ],
  'red tools: 1 of 1 reads failed in the last minute (upstream_credential_rejected)': [
    'PorticoOwnCredentialRefused',
    (events) => events.readEnded?.({ resource: 'tools', error: 'upstream_credential_rejected' }),
  ],
  'amber tools: served stale (upstream_timeout) for 30 s': [
    'PorticoServingStale',
    (events) => {
      events.readEnded?.({ resource: 'tools', cache: 'stale', staleFor: 'upstream_timeout' });
      events.loadEnded?.({ ...TOOLS, ms: 1, error: 'upstream_timeout' });
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
  'amber settings: refused (scheme: missing) for 30 s': [
    'PorticoSettingsRefused',
    (events) => events.settingsRefused?.({ issue: 'scheme: missing' }),
  ],
  'amber restart: pending (cache, http) for 30 s': [
    'PorticoSettingsRefused',
    (events) => {
      events.settingsRefused?.({ issue: 'scheme: missing' });
      events.settingsReloaded?.({ needRestart: ['cache', 'http'] });
    },
  ],
  'amber http.tls: file unusable (keyFile is no key) for 30 s': [
    'PorticoFileUnusable',
    (events) => events.filesChanged?.({ block: 'http.tls', key: 'keyFile', issue: 'is no key' }),
  ],
  'amber issuer: keys cannot be fetched (no response) for 30 s': [
    'PorticoCannotVerify',
    (events) => events.issuerKeysFetched?.({ keys: 0, error: new GatewayError('internal', { reason: 'no response' }) }),
  ],
  'amber Redis: unreachable (timeout) for 30 s': [
    'PorticoSharedStoreLost',
    (events) => events.sharedStoreChanged?.({ isUp: false, why: 'timeout' }),
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
    for (const state of ['open', 'half-open', 'closed'] as const) events.breakerChanged?.({ ...BREAKER, state });
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
    expect(await lines()).to.deep.equal(['amber http.tls: file unusable (keyFile is empty) for 0 s']);
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

  it('loses the breaker of an upstream that a reload replaced, whatever becomes of it', async () => {
    const { events, status, lines } = openStatus();
    events.breakerChanged?.({ ...BREAKER, state: 'open' });
    events.upstreamOpened?.({ upstream: 'acme', instanceId: Symbol('next') });
    events.breakerChanged?.({ ...BREAKER, state: 'open' });
    expect(await lines()).to.deep.equal([]);
    expect((await status()).upstreams[0]?.breaker).to.equal('closed');
  });

  it('loses the breaker of an upstream that settings no longer name, and stale lists that are not read', async () => {
    const { events, lines, later } = openStatus();
    events.breakerChanged?.({ ...BREAKER, state: 'open' });
    events.readEnded?.({ resource: 'tools', cache: 'stale', staleFor: 'upstream_failed' });
    events.upstreamClosed?.(ACME);
    expect(await lines()).to.deep.equal(['amber tools: served stale (upstream_failed) for 0 s']);
    later(600);
    expect(await lines()).to.deep.equal([]);
  });

  it('has the worst first, and its level', async () => {
    const { events, status, lines } = openStatus();
    expect((await status()).verdict.level).to.equal('green');
    events.settingsRefused?.({ issue: 'scheme: missing' });
    expect((await status()).verdict.level).to.equal('amber');
    events.breakerChanged?.({ ...BREAKER, state: 'open' });
    expect((await status()).verdict.level).to.equal('red');
    expect((await lines()).map((line) => line.split(' ')[0])).to.deep.equal(['red', 'amber']);
  });

  it('has a line for a certificate that expires within 14 days, which is red within three', () => {
    const to = 1_800_000_000_000;
    const certificate = { block: ['http', 'tls'], file: 'certFile', from: 0, to } as const;
    const lines = [20, 10.5, 2.5, -1].map((days) =>
      certificateTroubles([certificate], to - days * 86_400_000)
        .map(({ level, text }) => `${level} ${text}`)
        .join(),
    );
    const name = 'http.tls.certFile';
    expect(lines).to.deep.equal([
      ...['', `amber ${name}: expires in 10 d`, `red ${name}: expires in 2 d`, `red ${name}: expired`],
    ]);
  });
});
