import { type DemoPlatform, startDemoPlatform } from '../../src/demo/platform.ts';
import { get as getText, openConnection } from '../support/raw-http.ts';

export type Api = keyof DemoPlatform['urls'];

export type SentItem = Readonly<Record<string, unknown>>;

export interface SentPage {
  readonly items: readonly SentItem[];
  readonly nextPageToken: unknown;
}

/** Starts a platform for one test and ends it, whatever the test does. */
export async function withPlatform(work: (urls: DemoPlatform['urls']) => Promise<void>): Promise<void> {
  const platform = await startDemoPlatform();
  try {
    await work(platform.urls);
  } finally {
    await platform.close();
  }
}

/** Sends one GET by hand, so that what comes back is seen as it is on the wire. */
export function openRequest(url: string) {
  const { pathname, search } = new URL(url);
  const connection = openConnection(url);
  connection.send(getText(`${pathname}${search}`, { Authorization: 'Bearer demo-alice' }));
  return connection;
}

export function get(url: string, token = 'demo-alice'): Promise<Response> {
  return fetch(url, { headers: { Authorization: `Bearer ${token}` } });
}

/** One page, whose body holds the items under the name of the API and the next token, and nothing else. */
export async function getPage(
  urls: DemoPlatform['urls'],
  api: Api,
  query: Record<string, string> = {},
  token?: string,
): Promise<SentPage> {
  const response = await get(`${urls[api]}/v1/${api}?${new URLSearchParams(query)}`, token);
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  const { [api]: items, nextPageToken, ...rest } = (await response.json()) as Record<string, unknown>;
  if (!Array.isArray(items) || Object.keys(rest).length > 0) throw new Error('not the default upstream contract');
  return { items, nextPageToken };
}

/** All pages, from the first to the one without a next token. */
export async function getPages(
  urls: DemoPlatform['urls'],
  api: Api,
  query: Record<string, string> = {},
  token?: string,
): Promise<SentPage[]> {
  const pages: SentPage[] = [];
  for (let pageToken = ''; pages.length === 0 || pageToken !== ''; ) {
    const page = await getPage(urls, api, { ...query, pageToken }, token);
    pages.push(page);
    pageToken = String(page.nextPageToken);
  }
  return pages;
}

export async function getAll(...request: Parameters<typeof getPages>): Promise<SentItem[]> {
  return (await getPages(...request)).flatMap((page) => page.items);
}
