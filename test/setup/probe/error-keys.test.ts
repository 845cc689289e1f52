import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { ERROR_KEYS } from '../../../src/setup/probe/read-failure.ts';
import { json } from '../../support/platform/http-upstream.ts';
import { exists, SCHEMA } from '../../support/settings-schema.ts';
import { LIST, probedOne, settings } from './probed.ts';

const SHORT = ', timeoutMs: 200, retry: { attempts: 0 }';

/** What a platform does, the settings that the failure then names, and further settings of the resource and the upstream. */
const FAILURES: readonly (readonly [RequestListener, code: string, keys: string, more?: string, upstream?: string])[] =
  [
    [json({}, 401), 'credential_rejected', '^.credential'],
    [json({}, 404), 'upstream_refused', '^.baseUrl *.path *.query'],
    [() => {}, 'upstream_timeout', '^.timeoutMs', '', SHORT],
    [json({ a: 'b' }), 'upstream_invalid', '*.items *.fields *.pagination'],
    [json({ list: ['x'.repeat(2000)] }), 'upstream_invalid', '^.maxPageBytes', '', ', maxPageBytes: 1024'],
  ];
const pathsOf = (keys: string) =>
  keys.split(' ').map((key) => key.replace('^', 'upstreams.acme').replace('*', 'resources.projects'));

describe('the settings that a failed probe names', () => {
  for (const [handler, code, keys, more = '', upstream] of FAILURES) {
    it(`${code}: ${keys}`, async () => {
      const { error } = await probedOne(handler, settings(LIST + more, upstream));
      expect(error).to.deep.include({ code, check: pathsOf(keys) });
    });
  }

  it('are all keys of settings', () => {
    const paths = Object.values(ERROR_KEYS).flatMap(pathsOf);
    expect(paths.filter((path) => !exists(SCHEMA, path.split('.')))).to.deep.equal([]);
  });
});
