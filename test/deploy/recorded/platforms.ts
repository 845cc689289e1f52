import { setTimeout as sleep } from 'node:timers/promises';
import { json, lists } from '../../support/platform/http-upstream.ts';
import { manyTools } from '../../support/platform/loads.ts';
import { nextToken, ownCredential, repeat, type Scenarios, type Scene, sendReads, writeSecret } from './scene.ts';

const CLAIMS = { active: true, iss: 'https://issuer.example', aud: 'portico', sub: 'caller' };

/** Reads projects as many callers, who begin one after the other. */
function readAsMany({ read }: Scene, callers: number, gapMs = 0): void {
  for (let caller = 0; caller < callers; caller += 1) {
    void sleep(caller * gapMs).then(() => repeat(() => read('projects', `token-${caller}.`), 1));
  }
}

function respondLate({ platform }: Scene, ms: number): void {
  const respond = lists({ tools: manyTools(3) });
  platform.respond((request, response) => void setTimeout(respond, ms, request, response));
}

export const PLATFORMS: Scenarios = {
  'a platform that fails': {
    reads: ['tools', 'projects'],
    provoke: ({ platform }) => platform.respond(json({}, 503)),
    fires: ['PorticoReadsFailing', 'PorticoBreakerOpen', 'PorticoServingStale'],
    shows: [
      /^platform: breaker (open|half-open) for \d+ s after \d+ × 503$/,
      /^projects: \d+ of \d+ reads failed in the last minute \(breaker_open\)$/,
      /^tools: served stale for \d+ s \(breaker_open\)$/,
    ],
    reason: /^\d+ of \d+ calls failed; the last: upstream_failed, answered with status 503$/,
  },
  'a platform that fails for one of two workers': {
    args: ['--workers', '2'],
    reads: [],
    provoke({ platform, url }) {
      platform.respond(json({}, 503));
      // All on one connection, so that one worker gets them.
      sendReads(url, 1);
    },
    fires: ['PorticoReadsFailing', 'PorticoBreakerOpen'],
    shows: [
      /^platform: breaker (open|half-open) for \d+ s after \d+ × 503$/,
      /^tools: \d+ of \d+ reads failed in the last minute \(breaker_open\)$/,
    ],
  },
  "a platform that rejects the deployment's credential": {
    settings: ownCredential,
    reads: ['projects'],
    provoke: ({ platform }) => platform.respond(json({}, 401)),
    fires: ['PorticoReadsFailing', 'PorticoOwnCredentialRefused'],
    withoutLine: { PorticoReadsFailing: 'the line of the other alert has the number of failed reads' },
    shows: [/^projects: \d+ of \d+ reads failed in the last minute \(upstream_credential_rejected\)$/],
    reason: /^answered with status 401$/,
  },
  'an issuer that fails': {
    async settings({ platform, folder }) {
      platform.respond((request, response) =>
        (request.url === '/introspect' ? json({ ...CLAIMS, exp: Date.now() / 1000 + 3600 }) : lists({}))(
          request,
          response,
        ),
      );
      const introspection = { url: `${platform.url}/introspect`, clientId: 'portico', file: await writeSecret(folder) };
      return { verification: { issuer: CLAIMS.iss, audience: CLAIMS.aud, introspection } };
    },
    reads: [],
    provoke(scene) {
      scene.platform.respond(json({}, 503));
      repeat(() => scene.read('projects', nextToken()));
    },
    fires: ['PorticoCannotVerify', 'PorticoBreakerOpen'],
    shows: [
      /^verification\.introspection: breaker (open|half-open) for \d+ s after \d+ × 503$/,
      /^tokens: \d+ could not be verified in the last minute$/,
    ],
    reason: /^the issuer failed repeatedly/,
  },
  'a slow platform': {
    provoke(scene) {
      respondLate(scene, 3000);
      readAsMany(scene, 20, 150);
    },
    faulty: 100,
    fires: ['PorticoPlatformSlow'],
    shows: [/^platform: p95 [\d.]+ s in the last minute$/],
  },
  'a platform with too few connections': {
    settings: () => ({ upstream: { connections: 1, maxQueue: 10 } }),
    reads: [],
    async provoke(scene) {
      // New callers have half of the queue.
      for (let caller = 0; caller < 10; caller += 1) await scene.read('projects', `token-${caller}.`);
      respondLate(scene, 300);
      readAsMany(scene, 10);
    },
    fires: ['PorticoQueueing'],
    shows: [/^platform: \d+ of 10 calls queued$/],
  },
  'a platform whose lists have changed': {
    settings({ platform }) {
      platform.respond(lists({ tools: [{ id: 'a', name: 'A', release: '1.0.0' }] }));
      return { tools: { invalidItems: 'drop', fields: { version: 'release' } } };
    },
    provoke: ({ platform }) => platform.respond(lists({ tools: [{ id: 'a', name: 'A' }, { name: 'no id' }] })),
    faulty: 60,
    fires: ['PorticoMappingDoubtful', 'PorticoItemsDropped'],
    withoutLine: { PorticoItemsDropped: 'the line of the other alert has the number of items' },
    shows: [/^tools: 1 of 2 items could not be mapped, version is empty in every item$/],
  },
  'a platform that has renamed a member and a value': {
    settings({ platform }) {
      platform.respond(lists({ tools: manyTools(5).map((tool) => ({ ...tool, kind: 'edr', release: '1.0.0' })) }));
      return { tools: { fields: { version: 'release', category: { from: 'kind', values: { edr: 'EDR' } } } } };
    },
    provoke: ({ platform }) =>
      platform.respond(lists({ tools: manyTools(5).map((tool) => ({ ...tool, kind: 'xdr', current: '1.0.0' })) })),
    faulty: 60,
    fires: ['PorticoListDrifted'],
    shows: [
      /^tools: version is empty in every item and was not before, category has values that are not in the table values, and had none before$/,
    ],
  },
  'a list that has grown beyond its bound': {
    settings: () => ({ tools: { maxItems: 5 } }),
    provoke: ({ platform }) => platform.respond(lists({ tools: manyTools(6) })),
    faulty: 60,
    fires: ['PorticoBoundReached', 'PorticoServingStale'],
    shows: [/^tools: served stale for \d+ s \(upstream_invalid\)$/, /^maxItems: \d+ times reached in ten minutes$/],
    reason: /^the list has more items than maxItems: 5$/,
  },
};
