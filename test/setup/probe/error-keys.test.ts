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
import { LIST, probed, settings } from './probed.ts';

const SHORT = ', timeoutMs: 200, retry: { attempts: 0 }';
const list = (...items: unknown[]) => json({ list: items });
const PLACE = 'upstreams.acme.baseUrl, resources.projects.path';

/** What a platform does, what the printed failure then names, and further settings of the resource and the upstream. */
const FAILURES: readonly (readonly [RequestListener, code: string, keys: string, more?: string, upstream?: string])[] =
  [
    [json({}, 401), 'credential_rejected', 'upstreams.acme.credential'],
    [json({}, 403), 'access_denied', 'upstreams.acme.credential, resources.projects.path'],
    [json({}, 404), 'upstream_refused', PLACE],
    [json({}, 405), 'upstream_refused', 'resources.projects.method'],
    [json({}, 406), 'upstream_refused', 'upstreams.acme.headers'],
    [json({}, 400), 'upstream_refused', 'resources.projects.query, resources.projects.pagination'],
    [json({}, 429), 'upstream_rate_limited', 'resources.projects.pagination.concurrency'],
    [json({}, 302), 'upstream_failed', PLACE],
    [json({}, 500), 'upstream_failed', PLACE],
    [json({ errors: [{ a: 1 }] }), 'upstream_invalid', 'resources.projects.ignoreErrors'],
    [json({ found: 1 }), 'upstream_failed', 'resources.projects.errors', ', errors: found'],
    [(request) => request.socket.destroy(), 'upstream_failed', 'upstreams.acme.baseUrl', '', SHORT],
    [() => {}, 'upstream_timeout', 'upstreams.acme.timeoutMs (200)', '', SHORT],
    [json({ a: 'b' }), 'upstream_invalid', 'resources.projects.items'],
    [list({ name: 'A' }), 'upstream_invalid', 'resources.projects.fields.id'],
    [list('x'.repeat(2000)), 'upstream_invalid', 'upstreams.acme.maxPageBytes (1024)', '', ', maxPageBytes: 1024'],
    [json({ list: [{ id: 'a', name: 'A' }], total: 7 }), 'upstream_invalid', 'resources.projects.pagination'],
    [list({ id: 'a', name: 'A' }), 'upstream_invalid', 'resources.projects.where', ", where: id == 'b'"],
    [(_request, response) => response.end('<p>'), 'upstream_invalid', PLACE],
  ];

/** Codes of what callers do wrong, and of what no setting causes: a probe prints none of them with a key. */
const KEYLESS: readonly ErrorCode[] = [
  ...(Object.keys(ERRORS) as ErrorCode[]).filter(
    (code) => ERRORS[code].status < 500 && !/^(credential_r|access|upstream)/.test(code),
  ),
  ...(['draining', 'internal', 'transfer_coding_unsupported', 'verifier_unavailable'] as const),
];

describe('the settings that a failed probe names', () => {
  for (const [handler, code, keys, more = '', upstream] of FAILURES) {
    it(`${code}: ${keys}`, async () => {
      const report = await probed(handler, settings(LIST + more, upstream));
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
      const file = await writeSettings(folder, settings(LIST).replaceAll('BASE', 'http://127.0.0.1'));
      const { config } = await loadSettings(file, {});
      const keyless = (Object.keys(ERRORS) as ErrorCode[]).filter(
        (code) => errorKeys(new GatewayError(code), 'projects', 'acme', config).length === 0,
      );
      expect(keyless).to.have.members([...KEYLESS]);
      const late = errorKeys(
        new GatewayError('upstream_failed', { dependencyFailed: true }),
        'projects',
        'acme',
        config,
      );
      expect(late).to.deep.equal([{ setting: 'upstreams.acme.credential' }]);
    });
  });
});
