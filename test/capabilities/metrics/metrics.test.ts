import { expect } from 'chai';
import { createMetrics, expose } from '../../../src/capabilities/metrics/metrics.ts';
import type { RequestRecord } from '../../../src/core/kernel/caller.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { type Events, joinEvents } from '../../../src/core/kernel/events.ts';
import { eventually } from '../../support/eventually.ts';
import { parseExposition } from './scraped.ts';

type Metrics = ReturnType<typeof createMetrics>;

const OPTIONS = {
  ...{ snapshots: { maxBytes: 1000, maxEntries: 10 }, version: '1.2.3' },
  ...{ settingsHash: () => 'h1', now: () => 1_800_000_000_000 },
  certificates: async () => [],
};

/** Creates metrics of a gateway that offers two resources of one upstream. */
function open(dropped = {}): Metrics & { readonly events: Events } {
  const metrics = createMetrics({ ...OPTIONS, dropped });
  const events = joinEvents(metrics.listeners);
  events.resourcesOffered?.({ resources: ['projects', 'tools'] });
  events.upstreamOpened?.({ upstream: 'acme', connections: 32, maxQueue: 1024 });
  return { ...metrics, events };
}

async function scrape(metrics: Pick<Metrics, 'collect'>, accept = '') {
  const [, text] = await expose(await metrics.collect(), accept);
  return parseExposition(text);
}

/** The series that events bring or raise, but for the histograms' buckets and sums. */
async function raisedBy(emit: (events: Events) => void): Promise<Record<string, number>> {
  const metrics = open();
  const before = await scrape(metrics);
  emit(metrics.events);
  const after = await scrape(metrics);
  return Object.fromEntries(
    [...after.series]
      .map(([name, value]) => [name, value - (before.series.get(name) ?? 0)] as const)
      .filter(([name, raised]) => raised !== 0 && !/_(bucket|sum)\b|^(process|nodejs|v8js)_/.test(name)),
  );
}

const ended = (record: Partial<RequestRecord>): RequestRecord => ({
  ...{ edge: 'http', requestId: 'r', begun: 0, ms: 0, method: 'GET', route: '/mcp', bytes: 0 },
  ...{ status: 200, outcome: 'ok' },
  ...record,
});
const failed = (code: ConstructorParameters<typeof GatewayError>[0], status: number) =>
  ended({ error: new GatewayError(code), outcome: code, status });

const OF = { requestId: 'r' };
const SERVER = 'http_server_request_duration_seconds_count';
const MCP = 'mcp_server_operation_duration_seconds_count';
const CLIENT = 'http_client_request_duration_seconds_count';

/** Events by what happened, and the series that they raise. */
const CASES: Readonly<Record<string, readonly [emit: (events: Events) => void, raised: Record<string, number>]>> = {
  'a request that was answered': [
    (events) => events.requestEnded?.(ended({ bytes: 12 })),
    {
      [`${SERVER}{http_request_method="GET",http_route="/mcp",http_response_status_code="200"}`]: 1,
    },
  ],
  'a request that was answered with 304': [
    (events) => events.requestEnded?.(ended({ status: 304, outcome: 'not_modified' })),
    { [`${SERVER}{http_request_method="GET",http_route="/mcp",http_response_status_code="304"}`]: 1 },
  ],
  'a request with an unknown method and path': [
    (events) => events.requestEnded?.({ ...failed('not_found', 404), method: 'BREW', route: 'unmatched' }),
    {
      [`${SERVER}{http_request_method="_OTHER",http_response_status_code="404"}`]: 1,
      'portico_request_errors_total{code="not_found"}': 1,
    },
  ],
  'a failed request': [
    (events) => events.requestEnded?.(failed('upstream_failed', 502)),
    {
      [`${SERVER}{http_request_method="GET",http_route="/mcp",http_response_status_code="502",error_type="upstream_failed"}`]: 1,
      'portico_request_errors_total{code="upstream_failed"}': 1,
    },
  ],
  'an error in a response with status 200': [
    (events) => events.requestEnded?.(failed('invalid_params', 200)),
    {
      [`${SERVER}{http_request_method="GET",http_route="/mcp",http_response_status_code="200"}`]: 1,
      'portico_request_errors_total{code="invalid_params"}': 1,
    },
  ],
  'a client that disconnects before the response': [
    (events) => events.requestEnded?.(ended({ status: undefined, outcome: 'caller_gone' })),
    { [`${SERVER}{http_request_method="GET",http_route="/mcp",error_type="caller_gone"}`]: 1 },
  ],
  'a client that disconnects during the response': [
    (events) => events.requestEnded?.(ended({ outcome: 'caller_gone' })),
    {
      [`${SERVER}{http_request_method="GET",http_route="/mcp",http_response_status_code="200",error_type="caller_gone"}`]: 1,
    },
  ],
  'a bug': [(events) => events.internalError?.({ requestId: 'r', stack: 's' }), { portico_internal_errors_total: 1 }],
  'bounds that are reached': [
    (events) => {
      events.limitReached?.({ bound: 'maxPages', upstream: 'acme' });
      events.limitReached?.({ bound: 'limits.perCaller' });
    },
    {
      'portico_bounds_reached_total{bound="maxPages",upstream="acme"}': 1,
      'portico_bounds_reached_total{bound="limits.perCaller"}': 1,
    },
  ],
  'connections of clients, and those closed for others': [
    (events) => {
      events.connectionsChanged?.({ listener: 'http', open: 2, maxConnections: 10 });
      events.connectionsChanged?.({ listener: 'http', open: 1, maxConnections: 10 });
      events.connectionsChanged?.({ listener: 'admin', open: 3, maxConnections: 100 });
      events.idleConnectionsClosed?.({ listener: 'http', connections: 4 });
    },
    {
      'portico_connections{listener="http"}': 1,
      'portico_connections{listener="admin"}': 3,
      'portico_connections_max{listener="http"}': 10,
      'portico_connections_max{listener="admin"}': 100,
      'portico_idle_connections_closed_total{listener="http"}': 4,
    },
  ],
  'requests of JSON-RPC': [
    (events) => {
      events.operationEnded?.({ rpc: 'tools/list', revision: '2026-07-28', ms: 1 });
      events.operationEnded?.({ rpc: 'tools/list', revision: 'other', ms: 1 });
      events.operationEnded?.({ rpc: 'tools/call', tool: 'list_installed_tools', ms: 1, error: 'tool_error' });
      events.operationEnded?.({ rpc: 'resources/read', ms: 1, error: -32603 });
      events.operationEnded?.({ rpc: 'resources/read', ms: 1, error: 'cancelled' });
      events.operationEnded?.({ rpc: 'other', ms: 1, error: -32601 });
    },
    {
      [`${MCP}{mcp_method_name="tools/list",mcp_protocol_version="2026-07-28"}`]: 1,
      [`${MCP}{mcp_method_name="tools/list",mcp_protocol_version="_OTHER"}`]: 1,
      [`${MCP}{mcp_method_name="tools/call",gen_ai_tool_name="list_installed_tools",error_type="tool_error"}`]: 1,
      [`${MCP}{mcp_method_name="resources/read",error_type="-32603"}`]: 1,
      [`${MCP}{mcp_method_name="resources/read",error_type="cancelled"}`]: 1,
      [`${MCP}{mcp_method_name="_OTHER",error_type="-32601"}`]: 1,
    },
  ],
  'reads, and what serves them': [
    (events) => {
      events.readEnded?.({ resource: 'tools', cache: 'hit' });
      events.readEnded?.({ resource: 'tools', error: 'breaker_open' });
      events.readEnded?.({ resource: 'tools', cache: 'stale', staleFor: 'upstream_timeout' });
      events.flightJoined?.({ ...OF, resource: 'tools' });
      events.loadEnded?.({ resource: 'tools', upstream: 'acme', ms: 12 });
      events.loadEnded?.({ resource: 'tools', upstream: 'acme', ms: 12, error: 'upstream_invalid' });
      events.refreshFailed?.({ ...OF, resource: 'tools', error: new Error() });
    },
    {
      'portico_reads_total{resource="tools",cache="hit"}': 1,
      'portico_reads_total{resource="tools",error_type="breaker_open"}': 1,
      'portico_reads_total{resource="tools",cache="stale"}': 1,
      'portico_reads_stale_if_error_total{resource="tools",error_type="upstream_timeout"}': 1,
      'portico_flights_joined_total{resource="tools"}': 1,
      'portico_load_duration_seconds_count{resource="tools"}': 1,
      'portico_load_duration_seconds_count{resource="tools",error_type="upstream_invalid"}': 1,
      'portico_refresh_failures_total{resource="tools"}': 1,
    },
  ],
  'snapshots that are stored and evicted': [
    (events) => {
      events.snapshotStored?.({ resource: 'tools', bytes: 5, renewed: false });
      events.snapshotStored?.({ resource: 'tools', bytes: 5, renewed: true });
      events.snapshotDisplaced?.({ resource: 'tools' });
      events.snapshotEvicted?.({ ...OF, resource: 'tools', code: 'access_denied' });
      events.snapshotsHeld?.({ bytes: 700, entries: 4 });
      events.snapshotsHeld?.({ bytes: 600, entries: 3 });
    },
    {
      'portico_snapshots_stored_total{resource="tools",renewed="false"}': 1,
      'portico_snapshots_stored_total{resource="tools",renewed="true"}': 1,
      'portico_snapshots_evicted_total{resource="tools",reason="room"}': 1,
      'portico_snapshots_evicted_total{resource="tools",reason="access_denied"}': 1,
      portico_snapshots_held_bytes: 600,
      portico_snapshots_held: 3,
    },
  ],
  'loaded lists, and warnings about them': [
    (events) => {
      const defaulted = new Map([['description', 2]]);
      const list = { resource: 'tools', upstream: 'acme', pages: 3, items: 7, received: 12, excluded: 4, dropped: 1 };
      events.listLoaded?.({ ...list, defaulted });
      events.mappingWarning?.({ resource: 'tools', upstream: 'acme', finding: 'field_empty', field: 'version' });
      events.mappingWarning?.({ resource: 'tools', upstream: 'acme', finding: 'nothing_left' });
    },
    {
      'portico_list_items_total{resource="tools",outcome="kept"}': 7,
      'portico_list_items_total{resource="tools",outcome="excluded"}': 4,
      'portico_list_items_total{resource="tools",outcome="dropped"}': 1,
      'portico_fields_defaulted_total{resource="tools",field="description"}': 2,
      'portico_mapping_doubts_total{resource="tools",finding="field_empty",field="version"}': 1,
      'portico_mapping_doubts_total{resource="tools",finding="nothing_left"}': 1,
    },
  ],
  'requests to an upstream': [
    (events) => {
      const fetched = { ...OF, upstream: 'acme', method: 'GET' as const, ms: 3 };
      events.pageFetched?.({ ...fetched, bytes: 100, status: 200 });
      events.pageFetched?.({ ...fetched, bytes: 0, status: 799, error: 'upstream_failed' });
      events.pageFetched?.({ ...fetched, method: 'POST', bytes: 0, error: 'upstream_timeout' });
      events.retried?.({ ...OF, upstream: 'acme', retries: 1, delayMs: 5 });
      events.callRefused?.({ ...OF, upstream: 'acme', code: 'breaker_open' });
      events.unsolicitedResponse?.({ upstream: 'acme' });
    },
    {
      [`${CLIENT}{upstream="acme",http_request_method="GET",http_response_status_code="200"}`]: 1,
      [`${CLIENT}{upstream="acme",http_request_method="GET",http_response_status_code="_OTHER",error_type="upstream_failed"}`]: 1,
      [`${CLIENT}{upstream="acme",http_request_method="POST",error_type="upstream_timeout"}`]: 1,
      'portico_upstream_retries_total{upstream="acme"}': 1,
      'portico_upstream_calls_refused_total{upstream="acme",code="breaker_open"}': 1,
      'portico_upstream_unsolicited_responses_total{upstream="acme"}': 1,
    },
  ],
  'a breaker that opens': [
    (events) => events.breakerChanged?.({ upstream: 'acme', state: 'open', calls: 5, failures: 5 }),
    {
      'portico_breaker_state{upstream="acme",state="closed"}': -1,
      'portico_breaker_state{upstream="acme",state="open"}': 1,
      'portico_breaker_changes_total{upstream="acme",state="open"}': 1,
    },
  ],
  'a bulkhead that fills': [
    (events) => {
      events.bulkheadChanged?.({ upstream: 'acme', running: 32, waiting: 9 });
      events.bulkheadChanged?.({ upstream: 'acme', running: 32, waiting: 8 });
      events.bulkheadEntered?.({ upstream: 'acme', waitedMs: 12 });
    },
    {
      'portico_bulkhead_running{upstream="acme"}': 32,
      'portico_bulkhead_waiting{upstream="acme"}': 8,
      'portico_bulkhead_wait_seconds_count{upstream="acme"}': 1,
    },
  ],
  'verifications of tokens, and fetches of the keys': [
    (events) => {
      events.credentialVerified?.({ verdict: 'accepted', by: 'signature', ms: 1 });
      events.credentialVerified?.({ verdict: 'undecided', by: 'introspection', ms: 1, reason: 'no response' });
      events.issuerKeysFetched?.({ keys: 2 });
      events.issuerKeysFetched?.({ keys: 2, error: new GatewayError('internal') });
    },
    {
      'portico_credential_verification_duration_seconds_count{by="signature",verdict="accepted"}': 1,
      'portico_credential_verification_duration_seconds_count{by="introspection",verdict="undecided"}': 1,
      'portico_issuer_keys_fetches_total{outcome="fetched"}': 1,
      'portico_issuer_keys_fetches_total{outcome="failed"}': 1,
    },
  ],
  'the errors of the members of a batch, and of the whole': [
    (events) => {
      const member = (outcome: string) => ({ rpc: 'tools/call', outcome });
      const members = ['ok', 'access_denied', 'upstream_failed', 'upstream_failed', 'caller_gone'].map(member);
      const request = {
        edge: 'http' as const,
        requestId: 'r',
        begun: 0,
        ms: 0,
        rpc: 'batch',
        bytes: 0,
        members,
      };
      const last = new GatewayError('upstream_failed');
      events.requestEnded?.({ ...request, method: 'POST', route: '/mcp', status: 200, outcome: 'ok', error: last });
      const cut = new GatewayError('internal');
      events.requestEnded?.({ ...request, method: 'POST', route: '/mcp', status: 200, outcome: 'ok', error: cut });
    },
    {
      'portico_request_errors_total{code="access_denied"}': 2,
      'portico_request_errors_total{code="upstream_failed"}': 4,
      'portico_request_errors_total{code="internal"}': 1,
      'http_server_request_duration_seconds_count{http_request_method="POST",http_route="/mcp",http_response_status_code="200"}': 2,
    },
  ],
  'settings that need a restart': [
    (events) => events.settingsChanged?.({ applied: [], needRestart: ['http.port'] }),
    {},
  ],
  'exchanges of tokens that succeed and fail': [
    (events) => {
      events.tokenExchanged?.({ ...OF, upstream: 'acme', ms: 1 });
      events.tokenExchanged?.({ ...OF, upstream: 'acme', ms: 1, error: 'upstream_timeout' });
    },
    {
      'portico_token_exchange_duration_seconds_count{upstream="acme"}': 1,
      'portico_token_exchange_duration_seconds_count{upstream="acme",error_type="upstream_timeout"}': 1,
    },
  ],
  'a store that replicas share': [
    (events) => {
      events.sharedStoreOpened?.();
      events.sharedStoreChanged?.({ isUp: false, why: 'unreachable' });
      events.sharedStoreChanged?.({ isUp: true });
      events.sharedCommandEnded?.({ command: 'get', outcome: 'ok', ms: 2 });
      events.sharedCommandEnded?.({ command: 'put', outcome: 'failed', reason: 'full', ms: 2 });
      events.sharedEvictionsSent?.({ names: 3 });
      events.sharedLooked?.({ resource: 'tools', outcome: 'altered' });
      events.sharedPut?.({ resource: 'tools', outcome: 'stored' });
      events.sharedEvictionsReceived?.({ names: 2 });
      events.sharedEvictionsReceived?.({ names: undefined });
      events.sharedRejectionsSent?.({ rejections: 2 });
      for (const outcome of ['taken', 'taken', 'useless', 'altered'] as const) {
        events.sharedRejectionReceived?.({ outcome });
      }
      events.callRefused?.({ ...OF, upstream: 'acme', code: 'credential_rejected' });
      events.callRefused?.({ ...OF, upstream: 'acme', code: 'credential_rejected' });
    },
    {
      portico_shared_up: 1,
      'portico_shared_lost_total{reason="unreachable"}': 1,
      'portico_shared_command_duration_seconds_count{command="get",outcome="ok"}': 1,
      'portico_shared_command_duration_seconds_count{command="put",outcome="failed"}': 1,
      'portico_shared_command_failures_total{command="put",reason="full"}': 1,
      'portico_shared_looks_total{resource="tools",outcome="altered"}': 1,
      'portico_shared_puts_total{resource="tools",outcome="stored"}': 1,
      'portico_shared_evictions_total{direction="sent"}': 3,
      'portico_shared_evictions_total{direction="received"}': 2,
      'portico_shared_evictions_total{direction="missed"}': 1,
      'portico_shared_rejections_total{outcome="sent"}': 2,
      'portico_shared_rejections_total{outcome="taken"}': 2,
      'portico_shared_rejections_total{outcome="useless"}': 1,
      'portico_shared_rejections_total{outcome="altered"}': 1,
      'portico_upstream_calls_refused_total{upstream="acme",code="credential_rejected"}': 2,
    },
  ],
  'a store that replicas share and that was lost': [
    (events) => {
      events.sharedStoreOpened?.();
      events.sharedStoreChanged?.({ isUp: true });
      events.sharedStoreChanged?.({ isUp: false, why: 'stalled' });
    },
    { 'portico_shared_lost_total{reason="stalled"}': 1 },
  ],
  'certificates and settings': [
    (events) => {
      events.tlsFilesChanged?.({ block: 'http.tls' });
      events.tlsFilesChanged?.({ block: 'http.tls', key: 'certFile', issue: 'is empty' });
      events.settingsChanged?.({ applied: ['scheme'], needRestart: [] });
    },
    {
      'portico_file_unusable{block="http.tls"}': 1,
      portico_settings_changes_total: 1,
    },
  ],
  'files of secrets': [
    (events) => {
      events.secretChanged?.({ upstream: 'acme' });
      events.secretChanged?.({ upstream: 'acme', issue: 'is empty' });
      events.secretChanged?.({ block: 'verification.introspection', issue: 'is empty' });
    },
    {
      'portico_file_unusable{block="upstreams.acme.credential"}': 1,
      'portico_file_unusable{block="verification.introspection"}': 1,
    },
  ],
};

describe('metrics', () => {
  for (const [what, [emit, raised]] of Object.entries(CASES)) {
    it(`count ${what}`, async () => {
      expect(await raisedBy(emit)).to.deep.equal(raised);
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

  it('take a request for as long as its record says', async () => {
    const metrics = open();
    metrics.events.requestEnded?.(ended({ ms: 2000 }));
    const { series } = await scrape(metrics);
    const [, sum] = [...series].find(([name]) => name.startsWith('http_server_request_duration_seconds_sum')) ?? [];
    expect(sum).to.equal(2);
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
    expect(series.get('portico_bulkhead_slots{upstream="acme"}')).to.equal(32);
    expect(series.get('portico_bulkhead_max_waiting{upstream="acme"}')).to.equal(1024);
    expect(series.get('portico_snapshots_max_bytes')).to.equal(1000);
    expect(series.get('portico_snapshots_max')).to.equal(10);
  });

  it('report the end of each certificate in use, and of no others', async () => {
    const listener = { block: ['http', 'tls'], file: 'certFile' as const, from: 0, to: 1_800_000_000_500 };
    const authorities = { ...listener, block: ['upstreams', 'acme', 'tls'], file: 'caFile' as const };
    let found = [listener, authorities];
    const metrics = createMetrics({ ...OPTIONS, dropped: {}, certificates: async () => found });
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
    const next = { upstream: 'acme', opening: Symbol('next') };
    const state = 'portico_breaker_state{upstream="acme",state="open"}';
    const changes = 'portico_breaker_changes_total{upstream="acme",state="open"}';
    metrics.events.breakerChanged?.({ upstream: 'acme', state: 'open', calls: 5, failures: 5 });
    metrics.events.bulkheadChanged?.({ upstream: 'acme', running: 3, waiting: 0 });
    metrics.events.upstreamOpened?.({ ...next, connections: 8, maxQueue: 9 });
    metrics.events.upstreamClosed?.({ upstream: 'acme' });
    const { series: replaced } = await scrape(metrics);
    expect(replaced.get(state)).to.equal(0);
    expect(replaced.get('portico_bulkhead_running{upstream="acme"}')).to.equal(0);
    expect(replaced.get('portico_bulkhead_slots{upstream="acme"}')).to.equal(8);
    metrics.events.upstreamClosed?.(next);
    const { series } = await scrape(metrics);
    expect(series.has(state)).to.equal(false);
    expect(series.has('portico_bulkhead_max_waiting{upstream="acme"}')).to.equal(false);
    expect(series.get(changes)).to.equal(1);
    metrics.events.upstreamOpened?.({ upstream: 'acme', connections: 1, maxQueue: 1 });
    expect((await scrape(metrics)).series.get(state)).to.equal(0);
  });

  it('report the properties of the upstream in force, and the outcomes of the one before it', async () => {
    const metrics = open();
    const next = { upstream: 'acme', opening: Symbol('next') };
    metrics.events.upstreamOpened?.({ ...next, connections: 8, maxQueue: 9 });
    metrics.events.bulkheadChanged?.({ ...next, running: 5, waiting: 1 });
    metrics.events.bulkheadChanged?.({ upstream: 'acme', running: 0, waiting: 0 });
    metrics.events.breakerChanged?.({ upstream: 'acme', state: 'open', calls: 5, failures: 5 });
    const { series } = await scrape(metrics);
    expect(series.get('portico_bulkhead_running{upstream="acme"}')).to.equal(5);
    expect(series.get('portico_bulkhead_waiting{upstream="acme"}')).to.equal(1);
    expect(series.get('portico_breaker_state{upstream="acme",state="closed"}')).to.equal(1);
    expect(series.get('portico_breaker_changes_total{upstream="acme",state="open"}')).to.equal(1);
  });

  it('report that a file is unusable until it can be used, or settings name another', async () => {
    const { events, ...metrics } = open();
    const blocks = ['upstreams.acme.credential', 'upstreams.acme.tls', 'verification.introspection', 'http.tls'];
    const unusable = async () => {
      const { series } = await scrape(metrics);
      return blocks.filter((block) => series.get(`portico_file_unusable{block="${block}"}`) === 1);
    };
    const spoil = () => {
      events.secretChanged?.({ upstream: 'acme', issue: 'is empty' });
      for (const block of ['upstreams.acme.tls', 'http.tls']) {
        events.tlsFilesChanged?.({ block, key: 'certFile', issue: 'is empty' });
      }
      events.secretChanged?.({ block: 'verification.introspection', issue: 'is empty' });
    };
    expect(await unusable()).to.deep.equal([]);
    spoil();
    expect(await unusable()).to.deep.equal(blocks);
    events.secretChanged?.({ upstream: 'acme' });
    events.tlsFilesChanged?.({ block: 'http.tls' });
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
    expect(series.get(`portico_build_info{version="1.2.3",node_version="${process.versions.node}"}`)).to.equal(1);
    expect(series.get('portico_log_lines_dropped_total')).to.equal(7);
    expect(series.get('process_resident_memory_bytes')).to.be.greaterThan(1e7);
    expect(series.get('process_cpu_seconds_total')).to.be.greaterThan(0);
    expect(series.get('process_start_time_seconds')).to.be.within(1.6e9, Date.now() / 1000);
    expect(series.get('nodejs_eventloop_time_seconds_total{nodejs_eventloop_state="active"}')).to.be.greaterThan(0);
    expect(series.get('v8js_memory_heap_used_bytes{v8js_heap_space_name="old_space"}')).to.be.greaterThan(0);
    if (process.platform !== 'linux') return;
    expect(series.get('process_open_fds')).to.be.greaterThan(2);
    expect(series.get('process_max_fds')).to.be.greaterThan(series.get('process_open_fds') ?? 0);
  });

  it('have no series for dropped lines where these are not known', async () => {
    const { series, families } = await scrape(open());
    for (const name of ['portico_log_lines_dropped_total', 'portico_audit_lines_dropped_total']) {
      expect(families.has(name)).to.equal(true);
      expect(series.has(name)).to.equal(false);
    }
    const audited = await scrape(open({ droppedAuditLines: () => 3 }));
    expect(audited.series.get('portico_audit_lines_dropped_total')).to.equal(3);
  });

  it('watch the event loop and garbage collection from when requests are answered until they are no more', async () => {
    const metrics = open();
    const watched = async () => {
      const { series } = await scrape(metrics);
      const minor = series.get('v8js_gc_duration_seconds_count{v8js_gc_type="minor"}') ?? 0;
      return { looks: series.get('portico_event_loop_delay_seconds_count') ?? 0, minor };
    };
    expect(await watched()).to.deep.equal({ looks: 0, minor: 0 });
    metrics.events.listening?.({ url: 'http://127.0.0.1', resources: [] });
    let garbage: unknown[] = [];
    await eventually(async () => {
      garbage = Array.from({ length: 100_000 }, () => [garbage.length]);
      const { looks, minor } = await watched();
      return looks > 0 && minor > 0;
    });
    metrics.events.drained?.({ whole: true });
    const { looks } = await watched();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await watched()).looks).to.equal(looks);
  });

  it('are the same in both formats, but for the spelling of counters', async () => {
    const metrics = open();
    metrics.events.readEnded?.({ resource: 'tools', cache: 'hit' });
    const text = (await expose(await metrics.collect(), 'application/openmetrics-text'))[1];
    expect(text)
      .to.match(/[^\n]\n# EOF\n$/)
      .and.not.contain('\n\n');
    for (const again of [1, 2]) {
      const [plain, openMetrics] = [await scrape(metrics), await scrape(metrics, 'application/openmetrics-text')];
      expect([...openMetrics.series.keys()], `${again}`).to.deep.equal([...plain.series.keys()]);
      const names = [...plain.families].map(([name, { type }]) =>
        type === 'counter' ? name.replace(/_total$/, '') : name,
      );
      expect([...openMetrics.families.keys()]).to.deep.equal(names);
    }
  });
});
