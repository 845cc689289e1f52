import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { loadSettings } from '../../../src/composition.ts';
import { ERRORS, type ErrorCode } from '../../../src/core/kernel/error-table.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { printReport } from '../../../src/setup/probe/print-report.ts';
import { ERROR_KEYS, errorKeys } from '../../../src/setup/probe/read-failure.ts';
import { json } from '../../support/platform/http-upstream.ts';
import { inFolder, writeSettings } from '../../support/process/process.ts';
import { exists, SCHEMA } from '../../support/settings-schema.ts';
import { probed, settings } from './probed.ts';

const silent: RequestListener = () => {};
const list = (body: object) => json(body);
const ITEMS = 'items: list, pagination: { kind: none }';
const SHORT = ', timeoutMs: 200, retry: { attempts: 0 }';

/** What a platform does, by which settings, and what the printed failure then names. */
const FAILURES: readonly (readonly [
  RequestListener,
  resource: string,
  upstream: string,
  code: string,
  keys: string,
])[] = [
  [json({}, 401), ITEMS, '', 'credential_rejected', 'upstreams.acme.credential'],
  [json({}, 403), ITEMS, '', 'access_denied', 'upstreams.acme.credential, resources.projects.path'],
  [json({}, 404), ITEMS, '', 'upstream_refused', 'upstreams.acme.baseUrl, resources.projects.path'],
  [json({}, 405), ITEMS, '', 'upstream_refused', 'resources.projects.method'],
  [json({}, 406), ITEMS, '', 'upstream_refused', 'upstreams.acme.headers'],
  [json({}, 400), ITEMS, '', 'upstream_refused', 'resources.projects.query, resources.projects.pagination'],
  [json({}, 429), ITEMS, '', 'upstream_rate_limited', 'resources.projects.pagination.concurrency'],
  [json({}, 302), ITEMS, '', 'upstream_failed', 'upstreams.acme.baseUrl, resources.projects.path'],
  [json({}, 500), ITEMS, '', 'upstream_failed', 'upstreams.acme.baseUrl, resources.projects.path'],
  [json({ errors: [{}] }), ITEMS, '', 'upstream_failed', 'resources.projects.errors'],
  [(request) => request.socket.destroy(), ITEMS, SHORT, 'upstream_failed', 'upstreams.acme.baseUrl'],
  [silent, ITEMS, SHORT, 'upstream_timeout', 'upstreams.acme.timeoutMs (200)'],
  [json({}), ITEMS, '', 'upstream_invalid', 'resources.projects.items'],
  [list({ list: [{ name: 'A' }] }), ITEMS, '', 'upstream_invalid', 'resources.projects.fields.id'],
  [
    list({ list: ['x'.repeat(2000)] }),
    ITEMS,
    ', maxPageBytes: 1024',
    'upstream_invalid',
    'upstreams.acme.maxPageBytes (1024)',
  ],
  [list({ list: [{ id: 'a', name: 'A' }], total: 7 }), ITEMS, '', 'upstream_invalid', 'resources.projects.pagination'],
  [
    list({ list: [{ id: 'a', name: 'A' }] }),
    `${ITEMS}, where: id == 'b'`,
    '',
    'upstream_invalid',
    'resources.projects.where',
  ],
  [
    (_request, response) => response.end('<p>'),
    ITEMS,
    '',
    'upstream_invalid',
    'upstreams.acme.baseUrl, resources.projects.path',
  ],
];

/** Codes of what callers do wrong, and of what no setting causes: a probe prints none of them with a key. */
const KEYLESS: readonly ErrorCode[] = [
  ...(Object.keys(ERRORS) as ErrorCode[]).filter(
    (code) => ERRORS[code].status < 500 && !/^(credential_r|access|upstream)/.test(code),
  ),
  'draining',
  'internal',
  'transfer_coding_unsupported',
  'verifier_unavailable',
];

describe('the settings that a failed probe names', () => {
  for (const [handler, resource, upstream, code, keys] of FAILURES) {
    it(`${code}: ${keys}`, async () => {
      const report = await probed(handler, settings(resource, upstream));
      const lines = printReport(report, (_style, text) => text).split('\n');
      const at = lines.findIndex((line) => line.startsWith(`  ${code}: `));
      expect(lines.slice(at, at + 2).join('\n')).to.contain(keys);
    });
  }

  it('are all keys of settings', () => {
    const paths = ERROR_KEYS.flatMap(([, , keys]) => keys.split(' ')).map((key) =>
      key.replace('^', 'upstreams.acme').replace('*', 'resources.tools').replace('$1', 'name').split('.'),
    );
    expect(paths.filter((path) => !exists(SCHEMA, path))).to.deep.equal([]);
  });

  it('exist for every code that a read can fail with', async () => {
    await inFolder(async (folder) => {
      const file = await writeSettings(folder, settings(ITEMS).replaceAll('BASE', 'http://127.0.0.1'));
      const { config } = await loadSettings(file, {});
      const keyless = (Object.keys(ERRORS) as ErrorCode[]).filter(
        (code) => errorKeys(new GatewayError(code), 'projects', 'acme', config).length === 0,
      );
      expect(keyless).to.have.members([...KEYLESS]);
      const late = errorKeys(new GatewayError('upstream_failed', { elsewhere: true }), 'projects', 'acme', config);
      expect(late).to.deep.equal([{ setting: 'upstreams.acme.credential' }]);
    });
  });
});
