import type { IncomingMessage, RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import type { GatewayOptions } from '../../../src/gateway.ts';
import { captureLog } from '../../core/log/captured-log.ts';
import { CLIENT } from '../../support/authorization/authorization-server.ts';
import { type RunningGateway, settingsFor, startGateway } from '../../support/gateway.ts';
import type { TestSettings } from '../../support/limits.ts';
import { type HttpUpstream, listOf, lists, tokenOf } from '../../support/platform/http-upstream.ts';

type Upstream = TestSettings['upstreams'][string];
export type Exchange = Extract<NonNullable<Upstream['credential']>, { kind: 'exchange' }>;

export const PLATFORM = 'https://platform.example/api';
export const BASIC = { kind: 'client_secret_basic', id: CLIENT.id, secret: CLIENT.secret } as const;

export interface Options {
  readonly exchange?: Partial<Exchange>;
  readonly upstream?: Partial<Upstream>;
  readonly settings?: Partial<TestSettings>;
  readonly gateway?: GatewayOptions;
}

export function gatewayAt(platform: HttpUpstream, issuer: string, options: Options = {}): Promise<RunningGateway> {
  const credential = { kind: 'exchange', issuer, resource: PLATFORM, client: BASIC, ...options.exchange } as const;
  const upstream = { credential, retry: { attempts: 0 }, ...options.upstream } as const;
  return startGateway(
    { ...settingsFor(platform.url, { upstream }), ...options.settings },
    { ...captureLog('silent'), ...options.gateway },
  );
}

export const bodyOf = async (request: IncomingMessage) => new URLSearchParams(await text(request));

export async function codeOf(response: Response): Promise<string> {
  const { code } = (await response.json()) as { code: string };
  return `${response.status} ${code}`;
}

/** Which token the platform was given: each list has it as its one item. */
export async function givenFor(response: Response): Promise<string> {
  expect(response.status).to.equal(200);
  const [{ description } = { description: '' }] = (await response.json()) as { description: string }[];
  return description;
}

export const echo: RequestListener = (request, response) => {
  const item = { id: 'the-item', name: 'N', version: '1.0.0', description: tokenOf(request) };
  lists({ [listOf(request)]: [item] })(request, response);
};
