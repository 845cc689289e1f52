import { expect } from 'chai';
import { createMetrics } from '../../../src/capabilities/metrics/metrics.ts';
import type { RequestRecord } from '../../../src/core/kernel/caller.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { type Events, joinEvents } from '../../../src/core/kernel/events.ts';
import { readVersion } from '../../../src/core/kernel/version.ts';
import { parseExposition } from './scraped.ts';

type Metrics = ReturnType<typeof createMetrics>;

const OPTIONS = {
  ...{ maxCacheBytes: 1000, settingsHash: () => 'h1', droppedLogLines: (): number | undefined => undefined },
  certificates: () => [],
};

/** Creates metrics of a gateway that offers two resources of one upstream. */
function open(more = {}): Metrics & { readonly events: Events } {
  const metrics = createMetrics({ ...OPTIONS, ...more });
  const events = joinEvents(metrics.listeners);
  events.resourcesOffered?.({ resources: ['projects', 'tools'] });
  events.upstreamOpened?.({ upstream: 'acme' });
  return { ...metrics, events };
}

async function scrape({ all }: Pick<Metrics, 'all'>) {
  return parseExposition(await all.metrics());
}

const ended = (record: Partial<RequestRecord>): RequestRecord => ({
  ...{ edge: 'http', requestId: 'r', startedAt: 0, ms: 0, method: 'GET', route: '/mcp', bytes: 0 },
  ...{ status: 200, outcome: 'ok' },
  ...record,
});
const failed = (code: ConstructorParameters<typeof GatewayError>[0], record: Partial<RequestRecord>) =>
  ended({ error: new GatewayError(code), outcome: code, ...record });
const TOOLS = { requestId: 'r', resource: 'tools' };
const ACME = { requestId: 'r', upstream: 'acme' };
const LIST = { ...TOOLS, ...ACME, pages: 3, items: 7, received: 12, excluded: 4, dropped: 1 };
const PAGE = { ...ACME, method: 'GET', ms: 3, bytes: 0 } as const;
const GET = 'http_server_request_duration_seconds_count{http_request_method="GET",http_route="/mcp"';
const POST = GET.replace('GET', 'POST');
const MCP = 'mcp_server_operation_duration_seconds_count{mcp_method_name=';
const CLIENT = 'http_client_request_duration_seconds_count{upstream="acme",http_request_method=';
const ERRORS = 'portico_request_errors_total{code=';

type Row = {
  [Name in keyof Events]-?: readonly [Name, readonly Parameters<NonNullable<Events[Name]>>[0][], ...string[]];
}[keyof Events];

/** Events, and the series that they bring or raise, with a number where that is not 1. */
const ROWS: readonly Row[] = [
  ['requestEnded', [ended({})], `${GET},http_response_status_code="200"}`],
  [
    'requestEnded',
    [failed('not_found', { status: 404, method: 'BREW', route: 'unmatched' })],
    'http_server_request_duration_seconds_count{http_request_method="_OTHER",http_response_status_code="404"}',
    `${ERRORS}"not_found"}`,
  ],
  [
    'requestEnded',
    [failed('upstream_failed', { status: 502 })],
    ...[`${GET},http_response_status_code="502",error_type="upstream_failed"}`, `${ERRORS}"upstream_failed"}`],
  ],
  [
    'requestEnded',
    [failed('invalid_params', {})],
    ...[`${GET},http_response_status_code="200"}`, `${ERRORS}"invalid_params"}`],
  ],
  ['requestEnded', [ended({ status: undefined, outcome: 'caller_gone' })], `${GET},error_type="caller_gone"}`],
  [
    'requestEnded',
    [
      failed('upstream_failed', { method: 'POST', rpc: 'tools/call', outcome: 'ok' }),
      failed('internal', { method: 'POST', rpc: 'tools/call', outcome: 'ok' }),
    ],
    ...[`${ERRORS}"internal"}`, `${ERRORS}"upstream_failed"}`],
    `${POST},http_response_status_code="200"} 2`,
  ],
  ['internalError', [{ requestId: 'r', stack: 's' }], 'portico_internal_errors_total'],
  [
    'limitReached',
    [{ bound: 'maxPages', upstream: 'acme' }, { bound: 'limits.perCaller' }],
    'portico_bounds_reached_total{bound="maxPages",upstream="acme"}',
    'portico_bounds_reached_total{bound="limits.perCaller"}',
  ],
  [
    'connectionsChanged',
    [2, 1].map((open) => ({ listener: 'admin' as const, open, maxConnections: 100 })),
    ...['portico_connections{listener="admin"}', 'portico_connections_max{listener="admin"} 100'],
  ],
  [
    'operationEnded',
    [
      { rpc: 'tools/list', revision: '2026-07-28', ms: 1 },
      { rpc: 'tools/list', revision: 'other', ms: 1 },
      { rpc: 'tools/call', tool: 'list_installed_tools', ms: 1, error: 'tool_error' },
      { rpc: 'other', ms: 1, error: -32601 },
    ],
    ...['2026-07-28', '_OTHER'].map((revision) => `${MCP}"tools/list",mcp_protocol_version="${revision}"}`),
    `${MCP}"tools/call",gen_ai_tool_name="list_installed_tools",error_type="tool_error"}`,
    `${MCP}"_OTHER",error_type="-32601"}`,
  ],
  ['readEnded', [{ ...TOOLS, cache: 'hit' }], 'portico_reads_total{resource="tools",cache="hit"}'],
  [
    'readEnded',
    [{ ...TOOLS, error: 'breaker_open' }],
    'portico_reads_total{resource="tools",error_type="breaker_open"}',
  ],
  [
    'readEnded',
    [{ ...TOOLS, cache: 'stale', staleFor: 'upstream_timeout' }],
    'portico_reads_total{resource="tools",cache="stale"}',
    'portico_reads_stale_if_error_total{resource="tools",error_type="upstream_timeout"}',
  ],
  [
    'loadEnded',
    [{ ...LIST, ms: 12, error: 'upstream_invalid' }],
    'portico_load_duration_seconds_count{resource="tools",error_type="upstream_invalid"}',
  ],
  ['snapshotStored', [{ ...TOOLS, bytes: 5, notModified: true }], 'portico_snapshots_stored_total{resource="tools"}'],
  ['snapshotDisplaced', [TOOLS], 'portico_snapshots_evicted_total{resource="tools",reason="room"}'],
  [
    'snapshotEvicted',
    [{ ...TOOLS, code: 'access_denied' }],
    'portico_snapshots_evicted_total{resource="tools",reason="access_denied"}',
  ],
  ['snapshotsHeld', [4, 3].map((entries) => ({ bytes: 200 * entries, entries })), 'portico_snapshots_held_bytes 600'],
  [
    'listLoaded',
    [{ ...LIST, defaulted: new Map() }],
    ...['kept"} 7', 'excluded"} 4', 'dropped"}'].map(
      (outcome) => `portico_list_items_total{resource="tools",outcome="${outcome}`,
    ),
  ],
  [
    'mappingWarning',
    [
      { ...LIST, finding: 'field_empty', field: 'version' },
      { ...LIST, finding: 'nothing_left' },
    ],
    'portico_mapping_warnings_total{resource="tools",finding="field_empty",field="version"}',
    'portico_mapping_warnings_total{resource="tools",finding="nothing_left"}',
  ],
  [
    'pageFetched',
    [
      { ...PAGE, bytes: 100, status: 200 },
      { ...PAGE, status: 799, error: 'upstream_failed' },
      { ...PAGE, method: 'POST', error: 'upstream_timeout' },
    ],
    `${CLIENT}"GET",http_response_status_code="200"}`,
    `${CLIENT}"GET",http_response_status_code="_OTHER",error_type="upstream_failed"}`,
    `${CLIENT}"POST",error_type="upstream_timeout"}`,
  ],
  ['retried', [{ ...ACME, retries: 1, delayMs: 5 }], 'portico_upstream_retries_total{upstream="acme"}'],
  [
    'callRefused',
    [{ ...ACME, code: 'credential_rejected' }],
    'portico_upstream_calls_refused_total{upstream="acme",code="credential_rejected"}',
  ],
  [
    'breakerChanged',
    [{ ...ACME, state: 'open', calls: 5, failures: 5 }],
    ...['closed"} -1', 'open"}'].map((state) => `portico_breaker_state{upstream="acme",state="${state}`),
  ],
  [
    'bulkheadChanged',
    [9, 8].map((waiting) => ({ ...ACME, running: 32, waiting })),
    ...['portico_bulkhead_running{upstream="acme"} 32', 'portico_bulkhead_waiting{upstream="acme"} 8'],
  ],
  [
    'credentialVerified',
    [{ verdict: 'undecided', ms: 1, reason: 'no response' }],
    'portico_credential_verification_duration_seconds_count{verdict="undecided"}',
  ],
  ['sharedStoreChanged', [{ isUp: true }], 'portico_shared_up'],
  [
    'sharedCommandEnded',
    [{ command: 'get', outcome: 'ok', ms: 2 }],
    'portico_shared_command_duration_seconds_count{command="get",outcome="ok"}',
  ],
  [
    'sharedLooked',
    [{ ...TOOLS, outcome: 'altered' }],
    'portico_shared_cache_lookups_total{resource="tools",outcome="altered"}',
  ],
  ['sharedPut', [{ ...TOOLS, outcome: 'stored' }], 'portico_shared_puts_total{resource="tools",outcome="stored"}'],
  [
    'filesChanged',
    [{ block: 'http.tls' }, { block: 'http.tls', key: 'certFile', issue: 'is empty' }],
    'portico_file_unusable{block="http.tls"}',
  ],
  [
    'settingsChanged',
    [
      { applied: ['scheme'], needRestart: [] },
      { applied: [], needRestart: ['http.port'] },
    ],
    'portico_settings_changes_total',
  ],
];

describe('metrics', () => {
  for (const [name, emitted, ...expected] of ROWS) {
    it(`count ${name} in ${expected.join(' and ')}`, async () => {
      const metrics = open();
      const before = await scrape(metrics);
      for (const event of emitted) (metrics.events[name] as (event: unknown) => void)(event);
      const raised = [...(await scrape(metrics)).series]
        .map(([series, value]) => [series, value - (before.series.get(series) ?? 0)] as const)
        .filter(([series, by]) => by !== 0 && !/_(bucket|sum)\b|^(process|nodejs)_/.test(series));
      expect(raised.map(([series, by]) => (by === 1 ? series : `${series} ${by}`))).to.have.members(expected);
    });
  }

  it('sort times into buckets that each hold those below', async () => {
    const metrics = open();
    for (const ms of [0.05, 0.1, 0.2, 9999, 60_000]) metrics.events.operationEnded?.({ rpc: 'ping', ms });
    const { series } = await scrape(metrics);
    const name = 'mcp_server_operation_duration_seconds';
    const below = (le: string) => series.get(`${name}_bucket{le="${le}",mcp_method_name="ping"}`);
    expect(['0.0001', '0.00025', '5', '10', '+Inf'].map(below)).to.deep.equal([2, 3, 3, 4, 5]);
    expect(series.get(`${name}_count{mcp_method_name="ping"}`)).to.equal(5);
    expect(series.get(`${name}_sum{mcp_method_name="ping"}`)).to.be.closeTo(69.99935, 1e-9);
  });

  it('start with a series of 0 for all names in settings, and for counters without labels', async () => {
    const { series } = await scrape(open());
    for (const name of [
      'portico_reads_total{resource="projects",cache="bypass"}',
      'portico_list_items_total{resource="tools",outcome="dropped"}',
      'portico_upstream_retries_total{upstream="acme"}',
      'portico_request_errors_total{code="internal"}',
      'portico_breaker_state{upstream="acme",state="open"}',
      'portico_internal_errors_total',
    ]) {
      expect(series.get(name), name).to.equal(0);
    }
    expect(series.get('portico_snapshots_max_bytes')).to.equal(1000);
    expect(series.has('portico_shared_up')).to.equal(false);
  });

  it('report the end of each certificate in use, and of no others', async () => {
    const listener = { block: ['http', 'tls'], file: 'certFile' as const, from: 0, to: 1_800_000_000_500 };
    const authorities = { ...listener, block: ['upstreams', 'acme', 'tls'], file: 'caFile' as const };
    let found = [listener, authorities];
    const metrics = createMetrics({ ...OPTIONS, certificates: () => found });
    const reported = async () =>
      [...(await scrape(metrics)).series].filter(([name]) => name.startsWith('portico_certificate_'));
    const name = 'portico_certificate_expiry_timestamp_seconds';
    expect(await reported()).to.deep.equal([
      [`${name}{block="http.tls",file="certFile"}`, 1_800_000_000.5],
      [`${name}{block="upstreams.acme.tls",file="caFile"}`, 1_800_000_000.5],
    ]);
    found = [{ ...listener, to: 1_900_000_000_000 }];
    expect(await reported()).to.deep.equal([[`${name}{block="http.tls",file="certFile"}`, 1_900_000_000]]);
  });

  it('drop the gauges of an upstream once none of its name is open any more, and keep its counters', async () => {
    const metrics = open();
    const next = { upstream: 'acme', instanceId: Symbol('next') };
    const state = 'portico_breaker_state{upstream="acme",state="open"}';
    const retries = 'portico_upstream_retries_total{upstream="acme"}';
    metrics.events.breakerChanged?.({ upstream: 'acme', state: 'open', calls: 5, failures: 5 });
    metrics.events.bulkheadChanged?.({ upstream: 'acme', running: 3, waiting: 0 });
    metrics.events.retried?.({ ...ACME, retries: 1, delayMs: 5 });
    metrics.events.upstreamOpened?.(next);
    metrics.events.bulkheadChanged?.({ upstream: 'acme', running: 7, waiting: 0 });
    metrics.events.upstreamClosed?.({ upstream: 'acme' });
    const { series: replaced } = await scrape(metrics);
    expect(replaced.get(state)).to.equal(0);
    expect(replaced.get('portico_bulkhead_running{upstream="acme"}')).to.equal(0);
    metrics.events.upstreamClosed?.(next);
    const { series } = await scrape(metrics);
    expect(series.has(state)).to.equal(false);
    expect(series.has('portico_bulkhead_running{upstream="acme"}')).to.equal(false);
    expect(series.get(retries)).to.equal(1);
    metrics.events.upstreamOpened?.({ upstream: 'acme' });
    expect((await scrape(metrics)).series.get(state)).to.equal(0);
  });

  it('report that a file is unusable until it can be used, or settings name another', async () => {
    const { events, ...metrics } = open();
    const blocks = ['upstreams.acme.credential', 'upstreams.acme.tls', 'verification.introspection', 'http.tls'];
    const unusable = async () => {
      const { series } = await scrape(metrics);
      return blocks.filter((block) => series.get(`portico_file_unusable{block="${block}"}`) === 1);
    };
    const spoil = () => {
      for (const block of blocks) events.filesChanged?.({ block, key: 'certFile', issue: 'is empty' });
    };
    expect(await unusable()).to.deep.equal([]);
    spoil();
    expect(await unusable()).to.deep.equal(blocks);
    for (const block of ['upstreams.acme.credential', 'http.tls']) events.filesChanged?.({ block });
    expect(await unusable()).to.deep.equal(['upstreams.acme.tls', 'verification.introspection']);
    spoil();
    events.settingsChanged?.({
      applied: ['upstreams.acme', 'verification.introspection.secret'],
      needRestart: ['http'],
    });
    expect(await unusable()).to.deep.equal(['http.tls']);
  });

  it('report the versions that run, and the memory and time that they use', async () => {
    const { series } = await scrape(open({ droppedLogLines: () => 7 }));
    expect(series.get(`portico_build_info{version="${readVersion()}"}`)).to.equal(1);
    expect(series.get('portico_log_lines_dropped_total')).to.equal(7);
    expect(series.get('process_resident_memory_bytes')).to.be.greaterThan(1e7);
    expect(series.get('process_cpu_seconds_total')).to.be.greaterThan(0);
    expect(series.has('nodejs_eventloop_lag_p99_seconds')).to.equal(true);
    expect(series.get('nodejs_heap_size_used_bytes')).to.be.greaterThan(0);
    if (process.platform !== 'linux') return;
    expect(series.get('process_open_fds')).to.be.greaterThan(2);
    expect(series.get('process_max_fds')).to.be.greaterThan(series.get('process_open_fds') ?? 0);
  });
});
