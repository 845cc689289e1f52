import { expect } from 'chai';
import { createDeploymentSecret } from '../../../src/capabilities/shared-cache/deployment-secret.ts';
import { parseConfig } from '../../../src/core/config/load-config.ts';
import { Credential } from '../../../src/core/kernel/caller.ts';
import { createHoldings } from '../../../src/core/reads/holdings.ts';
import { callerWith } from '../../support/authorization/caller.ts';
import { createMemoryStore } from '../../support/fleet/shared-store.ts';
import { loadOf } from '../../support/platform/loads.ts';

describe('what outlasts a change of settings', () => {
  it('follows as many lists as the cache holds, whatever number of secrets they have names under', () => {
    const secrets = ['a', 'b'].map((text) => createDeploymentSecret(new Credential(text.repeat(32))));
    const [current, before] = secrets as [(typeof secrets)[0], (typeof secrets)[0]];
    const upstreams = { tools: { baseUrl: 'http://127.0.0.1:1' } };
    const { cache, shared } = createHoldings(parseConfig({ upstreams, cache: { maxEntries: 2 } }), {
      ...{ resources: [], events: {}, now: Date.now },
      shared: {
        ...{ store: createMemoryStore(Date.now).connect(), secrets: [current, before] },
        ...{ leaseMs: 1000, waitMs: 1000, maxValueBytes: 1000 },
      },
    });
    for (const token of ['one', 'other', 'third']) {
      const caller = callerWith(token, { partition: `key of ${token}` });
      shared?.followed.follow([`${token} a`, `${token} b`], { cache, resource: 'tools', caller });
      cache.begin('tools', caller).store(loadOf());
      if (token === 'other') expect(cache.entries).to.equal(2);
    }
    expect(cache.get('tools', { key: 'key of one', partition: 'key of one' })).to.equal(undefined);
    expect(cache.entries).to.equal(2);
  });
});
