import type { SettingsInput } from '../gateway.ts';
import { PLATFORM_URL } from './start-gateway.ts';

/**
 * nock 15 or newer, as `import nock from 'nock'` gives it: as much of it as is needed here. It is handed over, and not
 * imported, since two copies of nock in one process refuse what the other one was told of.
 */
export type Nock = (origin: string, options: { reqheaders: Record<string, string | RegExp> }) => NockScope;

interface NockScope {
  get(path: string): NockInterceptor;
}

interface NockInterceptor {
  query(matches: (query: Record<string, unknown>) => boolean): NockInterceptor;
  reply(status: number, body: object): unknown;
}

/** Which platform is mocked. */
export interface MockPlatformOptions {
  /** Origin of the platform, and its path prefix where it has one. @default PLATFORM_URL */
  readonly url?: string;
  /** Access token that it wants. @default any */
  readonly token?: string;
}

type ListName = 'projects' | 'workflows' | 'tools';

/** Mocks of a platform with the default contract, the one that `config/default.yaml` fits. Each answers one time. */
export interface MockPlatform {
  /** Settings that lead to it. */
  readonly upstreams: SettingsInput['upstreams'];
  /** Answers one read of a list, with these pages of items: `list('projects', [one, two], [three])`. None is one empty page. */
  list(name: ListName, ...pages: readonly (readonly object[])[]): void;
  /** Answers one request for the first page of a list with this status and this body. */
  reply(name: ListName, status: number, body?: object): void;
}

/** What the default contract asks of each list beside its page. */
const QUERIES: Readonly<Record<ListName, Readonly<Record<string, string>>>> = {
  projects: {},
  workflows: { installed: 'true' },
  tools: { installed: 'true' },
};

/** Has your nock stand in for a platform with the default contract. What it was told of is pending until it is asked. */
export function mockPlatform(nock: Nock, { url = PLATFORM_URL, token }: MockPlatformOptions = {}): MockPlatform {
  const { origin, pathname } = new URL(url);
  const prefix = pathname.replace(/\/$/, '');
  const authorization = token === undefined ? /^Bearer \S+$/ : `Bearer ${token}`;
  const page = (name: ListName, pageToken: string) =>
    nock(origin, { reqheaders: { authorization } })
      .get(`${prefix}/v1/${name}`)
      .query(({ pageSize, ...rest }) => /^[1-9]\d*$/.test(String(pageSize)) && asksFor(rest, name, pageToken));

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

/** The first page has none. */
function tokenOf(index: number): string {
  return index === 0 ? '' : `page-${index + 1}`;
}

/** Whether a query, without the size of a page, is the one for this page and no other. */
function asksFor(query: Record<string, unknown>, name: ListName, pageToken: string): boolean {
  const wanted = new Map(Object.entries(pageToken === '' ? QUERIES[name] : { ...QUERIES[name], pageToken }));
  const asked = Object.entries(query);
  return asked.length === wanted.size && asked.every(([key, value]) => wanted.get(key) === value);
}
