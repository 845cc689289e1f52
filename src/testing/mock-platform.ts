import { isDeepStrictEqual } from 'node:util';
import type { SettingsInput } from '../gateway.ts';
import { PLATFORM_URL } from './start-gateway.ts';

/** The used parts of nock 15. A parameter, because two copies of nock in one process reject each other's mocks. */
export type Nock = (origin: string, options: { reqheaders: Record<string, string | RegExp> }) => NockScope;

interface NockScope {
  get(path: string): NockInterceptor;
}

interface NockInterceptor {
  query(matches: (query: Record<string, unknown>) => boolean): NockInterceptor;
  reply(status: number, body: object): unknown;
}

/** The mocked platform. */
export interface MockPlatformOptions {
  /** Origin and path prefix of the platform. @default PLATFORM_URL */
  readonly url?: string;
  readonly token?: string;
}

type ListName = 'projects' | 'workflows' | 'tools';

/** Mocks of a platform with the default contract, which matches `config/default.yaml`. Each answers once. */
export interface MockPlatform {
  /** Settings for this platform. */
  readonly upstreams: SettingsInput['upstreams'];
  /** Answers one read of a list with these pages: `list('projects', [one, two], [three])`. Without pages: one empty page. */
  list(name: ListName, ...pages: readonly (readonly object[])[]): void;
  /** Answers one request for the first page of a list with this status and body. */
  reply(name: ListName, status: number, body?: object): void;
}

const QUERIES: Readonly<Record<ListName, Readonly<Record<string, string>>>> = {
  projects: {},
  workflows: { installed: 'true' },
  tools: { installed: 'true' },
};

/** Mocks a platform with the default contract using your nock. Mocks are pending until they are used. */
export function mockPlatform(nock: Nock, { url = PLATFORM_URL, token }: MockPlatformOptions = {}): MockPlatform {
  const { origin, pathname } = new URL(url);
  const prefix = pathname.replace(/\/$/, '');
  const authorization = token === undefined ? /^Bearer \S+$/ : `Bearer ${token}`;
  const page = (name: ListName, pageToken: string) => {
    const expected = { ...QUERIES[name], ...(pageToken !== '' && { pageToken }) };
    return nock(origin, { reqheaders: { authorization } })
      .get(`${prefix}/v1/${name}`)
      .query(({ pageSize, ...rest }) => /^[1-9]\d*$/.test(String(pageSize)) && isDeepStrictEqual(rest, expected));
  };

  return {
    upstreams: { projects: { baseUrl: url }, workflows: { baseUrl: url }, tools: { baseUrl: url } },
    list(name, ...pages) {
      const last = Math.max(pages.length, 1) - 1;
      for (let index = 0; index <= last; index += 1) {
        const nextPageToken = index === last ? '' : tokenOf(index + 1);
        page(name, tokenOf(index)).reply(200, { [name]: pages[index] ?? [], nextPageToken });
      }
    },
    reply(name, status, body = {}) {
      page(name, '').reply(status, body);
    },
  };
}

function tokenOf(index: number): string {
  return index === 0 ? '' : `page-${index + 1}`;
}
