import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import nock from 'nock';
import { loadSettings } from '../../../src/gateway.ts';
import { type RunningGateway, startGateway } from '../gateway.ts';
import { useNock } from '../nock.ts';

/** One response of the gateway, taken apart. */
export interface ReadResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/**
 * For use in a `describe`: each of its tests runs against a gateway with the settings of
 * `config/examples/<name>.yaml`, `env` as their environment, and the platform mocked by nock. A test fails that leaves
 * a mock unused, or in which the platform is asked for something that has none. Gives what reads one resource by HTTP.
 *
 * The fields that were empty in all items of all reads are those that docs/examples.md says the platform cannot fill.
 */
export function serveExample(name: string, env: Record<string, string>): (resource: string) => Promise<ReadResponse> {
  let running: RunningGateway;
  let unmatched: string[] = [];
  const filled = new Map<string, boolean>();
  const notice = ({ url }: Request) => {
    if (!url.startsWith(running.url)) unmatched.push(url);
  };

  useNock();

  before(() => {
    nock.emitter.on('no match', notice);
  });

  after(function () {
    nock.emitter.off('no match', notice);
    // Where only some of the tests ran, or one failed, nothing is known.
    if (this.test?.parent?.tests.some(({ state }) => state !== 'passed')) return;
    const empty = [...filled].filter(([, isFilled]) => !isFilled).map(([field]) => field);
    expect(empty).to.have.members(toldEmpty(name));
  });

  // One for each test: what an earlier one was given, or refused, is remembered.
  beforeEach(async () => {
    const file = fileURLToPath(new URL(`../../../config/examples/${name}.yaml`, import.meta.url));
    const { config } = await loadSettings(file, env);
    running = await startGateway({
      ...config,
      http: { ...config.http, port: 0 },
      admin: { enabled: false },
      log: { level: 'silent' },
    });
  });

  afterEach(async () => {
    await running.gateway.close();
    const seen = { pending: nock.pendingMocks(), unmatched };
    nock.cleanAll();
    unmatched = [];
    expect(seen).to.deep.equal({ pending: [], unmatched: [] });
  });

  return async (resource) => {
    const response = await running.read(resource);
    const body = await response.json();
    for (const item of Array.isArray(body) ? body : []) {
      for (const [field, value] of Object.entries(item)) {
        const key = `${field} of ${resource}`;
        filled.set(key, filled.get(key) === true || value !== '');
      }
    }
    return { status: response.status, headers: response.headers, body };
  };
}

/** What docs/examples.md says that the platform of an example cannot fill, as `createTime of projects`. */
function toldEmpty(name: string): string[] {
  const page = readFileSync(new URL('../../../docs/examples.md', import.meta.url), 'utf8');
  const [, told = ''] =
    new RegExp(`^\\| \\[[^|]+\\]\\([^|]+/${name}\\.yaml\\) \\| (nothing|[^|]* of [^|]*) \\|`, 'm').exec(page) ?? [];
  expect(told, `what ${name} cannot fill, in docs/examples.md`).not.to.equal('');
  if (told === 'nothing') return [];
  return told.split('; ').flatMap((part) => {
    const [fields = '', resource = ''] = part.split(' of ');
    return [...fields.matchAll(/`(\w+)`/g)].map(([, field]) => `${field} of ${resource}`);
  });
}
