import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import nock from 'nock';
import { loadConfig } from '../../src/config/load-config.ts';
import { type RunningGateway, startGateway } from './gateway.ts';
import { useNock } from './nock.ts';

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
 */
export function serveExample(name: string, env: Record<string, string>): (resource: string) => Promise<ReadResponse> {
  let running: RunningGateway;
  let unmatched: string[] = [];
  const notice = ({ url }: Request) => {
    if (!url.startsWith(running.url)) unmatched.push(url);
  };

  useNock();

  before(() => {
    nock.emitter.on('no match', notice);
  });

  after(() => {
    nock.emitter.off('no match', notice);
  });

  // One for each test: what an earlier one was given, or refused, is remembered.
  beforeEach(async () => {
    const file = fileURLToPath(new URL(`../../config/examples/${name}.yaml`, import.meta.url));
    const { config } = await loadConfig(file, env);
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
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
}
