import { expect } from 'chai';
import { atDepth } from '../../support/depth.ts';
import { eventually } from '../../support/eventually.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import type { TestSettings } from '../../support/limits.ts';
import { lists, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { callOf } from '../../support/rpc.ts';
import { randomFrom, SEED, SEEDED } from '../../support/seed.ts';
import { subscribe } from './subscriber.ts';

const SUBSCRIBERS = 10;
const CHANGES = atDepth(2000, 20_000);

/** Changes of one list between two notifications, at most. */
const MAX_AT_ONCE = 39;

/** Tools of one caller by id, with their names. */
type List = Map<string, string>;

/** Changes a list in one way at least that it has not had before. Returns how many changes it made. */
function changeSome(list: List, version: number, token: string, random: () => number): number {
  const below = (count: number) => Math.floor(random() * count);
  list.set(`${token}-new`, `version ${version}`);
  const count = below(MAX_AT_ONCE);
  for (let change = 0; change < count; change += 1) {
    const id = `${token}-${below(60)}`;
    if (below(3) === 0) list.delete(id);
    else list.set(id, `name ${below(5)}`);
  }
  return count + 1;
}

function changesFrom(before: List, list: List) {
  return {
    new: [...list.keys()].filter((id) => !before.has(id)),
    changed: [...list].flatMap(([id, name]) => (before.has(id) && before.get(id) !== name ? [id] : [])),
    gone: [...before.keys()].filter((id) => !list.has(id)),
  };
}

describe('the difference that a notification is followed by', () => {
  it(`is exact for each of ten subscribers over ${CHANGES} changes, and no other caller gets it ${SEEDED}`, async () => {
    const known = new Map<string, List>();
    const itemsFor = (token: string) => [...(known.get(token) ?? [])].map(([id, name]) => toolItem(id, { name }));
    const platform = await startHttpUpstream(lists({ tools: (request) => itemsFor(tokenOf(request)) }));
    const cache = { ttlMs: 20 };
    const subscriptions = { pollMs: 20, minPollMs: 10, maxPollMs: 80 };
    const settings = settingsFor(platform.url, { resources: { tools: { cache } } });
    const { url, post } = await startGateway({ ...settings, subscriptions } as TestSettings);

    async function ask(token: string, changed_since: string) {
      const response = await post(callOf('list_installed_tools', { changed_since }), {
        authorization: `Bearer ${token}`,
      });
      return JSON.parse(await response.text()).result.structuredContent;
    }

    /** Returns how many changes its subscriber was told the difference of. */
    async function follow(token: string, random: () => number): Promise<number> {
      const list: List = new Map([[`${token}-first`, 'first']]);
      known.set(token, list);
      const { messages } = await subscribe(url, { token, resources: ['tools'] });
      await eventually(() => messages.length === 1);
      let { etag } = await ask(token, 'none');
      let made = 0;
      for (let version = 1; made < CHANGES / SUBSCRIBERS; version += 1) {
        const before = new Map(list);
        made += changeSome(list, version, token, random);
        // One after the acknowledgement for each: nobody is notified of what others change.
        await eventually(() => messages.length > version);
        const { changes, total, items, ...answer } = await ask(token, etag);
        expect(changes).to.deep.equal(changesFrom(before, list));
        expect({ total, items }).to.deep.equal({ total: list.size, items: [] });
        expect(messages.at(-1).params._meta['portico/etag']).to.equal(answer.etag);
        expect(messages).to.have.length(version + 1);
        expect(await ask(`other-${token}`, etag)).to.not.have.property('changes');
        etag = answer.etag;
      }
      return made;
    }

    const tokens = Array.from({ length: SUBSCRIBERS }, (_, index) => `caller-${index}`);
    const made = await Promise.all(tokens.map((token, index) => follow(token, randomFrom(SEED + index))));
    expect(made.reduce((sum, one) => sum + one)).to.be.at.least(CHANGES);
  }).timeout(atDepth(60_000, 600_000));
});
