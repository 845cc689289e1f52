import { expect } from 'chai';
import { parse } from 'yaml';
import { REMOVED } from '../../../src/core/config/removed-keys.ts';
import { LIMIT_ROWS } from '../../../src/core/kernel/limits.ts';
import { parseConfig } from '../../support/limits.ts';
import { issuesIn, UPSTREAMS } from './settings-file.ts';

/** A settings file that has this key, and in its block what the block needs. */
function fileWith(path: string): string {
  const upstream = path.startsWith('upstreams') ? 'tools' : '<name>';
  const keys = path.replace('<name>', path.startsWith('resources') ? 'tools' : upstream).split('.');
  const settings = {
    ...parse(UPSTREAMS),
    ...(path.startsWith('verification.') && { verification: { issuer: 'https://a.example' } }),
  };
  let block = settings;
  for (const key of keys.slice(0, -1)) {
    block[key] = { ...block[key] };
    block = block[key];
  }
  const { credential } = settings.upstreams.tools;
  if (credential !== undefined) Object.assign(credential, { kind: 'exchange' });
  if (credential?.client !== undefined) Object.assign(credential.client, { kind: 'private_key_jwt' });
  block[String(keys.at(-1))] = 1;
  return JSON.stringify(settings);
}

describe('keys that settings no longer have', () => {
  for (const [path, now] of REMOVED) {
    it(`are reported with what holds now: ${path}`, async () => {
      const issues = await issuesIn(fileWith(path));
      const key = path.split('.').at(-1);
      const about = issues.filter((issue) => issue.includes(`${key}: is no longer a setting: ${now}`));
      // Bounds of the breaker are in a block that is gone as a whole.
      if (path.includes('.breaker.')) expect(issues.join()).to.contain('breaker: is no longer a setting');
      else expect(about, issues.join('\n')).to.have.length(1);
    });
  }

  it('hold more where a setting needs it', () => {
    const baseUrl = 'https://a.example';
    const { maxLoadingBytes, cache, resources } = parseConfig({
      cache: { maxBytes: 268_435_456 },
      upstreams: { projects: { baseUrl }, tools: { baseUrl, maxPageBytes: 134_217_728 } },
    });
    expect([maxLoadingBytes, cache.maxEntries]).to.deep.equal([268_435_456, 40_000]);
    expect([resources.projects.maxPageValues, resources.tools.maxPageValues]).to.deep.equal([250_000, 16_000_000]);
  });

  it('include every bound that is a constant now', () => {
    expect(REMOVED.size).to.be.at.least(LIMIT_ROWS.length);
  });
});
