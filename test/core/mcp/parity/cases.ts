import type { ServerResponse } from 'node:http';
import type { ErrorCode } from '../../../../src/core/kernel/error-table.ts';
import type { TestSettings } from '../../../support/limits.ts';
import type { Reading } from './ways.ts';

/** What the platform does with a request. */
export type Behaviour = (response: ServerResponse, list: string, number: number) => void;

export interface Step extends Reading {
  readonly uri?: string;
  /** Time that passes before it. */
  readonly afterMs?: number;
  readonly platform?: Behaviour;
  /** Is not waited for. */
  readonly held?: boolean;
}

/** Reads one after the other, and what the last one comes to. */
export interface Case {
  readonly what: string;
  readonly steps: readonly Step[];
  readonly upstream?: Partial<TestSettings['upstreams'][string]>;
  /** Has a gateway of its own. @default where it has settings of its own */
  readonly alone?: boolean;
  /** One upstream serves all three lists. */
  readonly isOneForAll?: boolean;
  /** Which of the platform's answers comes back, for how long it is fresh, and whether and why it is stale. */
  readonly list?: { readonly answer: number; readonly ttlMs: number; readonly stale?: string | true };
  readonly error?: {
    readonly code: ErrorCode;
    readonly upstream?: string;
    readonly retryAfterSeconds?: number;
  };
  /** Requests that the platform got. @default what the last step needs is not looked at */
  readonly requests?: number;
  /** Stdio has no such header, or always has a credential. */
  readonly httpOnly?: boolean;
}

export const answers: Behaviour = (response, list, number) => {
  response.end(JSON.stringify({ [list]: [{ id: `${list}-${number}`, name: 'Ä "quoted" \u2028' }] }));
};
const says =
  (status: number, headers: Record<string, string> = {}, body = 'words of the platform'): Behaviour =>
  (response) =>
    response.writeHead(status, headers).end(body);
const never: Behaviour = () => {};

const TOOLS = 'platform://tools';
const PROJECTS = 'platform://projects';
const MINUTE = 60_000;
const fails = (what: string, platform: Behaviour, code: ErrorCode, retryAfterSeconds?: number): Case => ({
  what,
  steps: [{ uri: TOOLS, platform }],
  error: { code, upstream: 'tools', ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) },
});

export const CASES: readonly Case[] = [
  { what: 'fresh', steps: [{ uri: TOOLS }], list: { answer: 1, ttlMs: MINUTE }, requests: 1 },
  {
    what: 'a hit',
    steps: [{ uri: TOOLS }, { uri: TOOLS, afterMs: 20_000, platform: says(500) }],
    list: { answer: 1, ttlMs: 40_000 },
    requests: 1,
  },
  {
    what: 'stale, and refreshed behind the read',
    steps: [{ uri: TOOLS }, { uri: TOOLS, afterMs: 2 * MINUTE }],
    alone: true,
    list: { answer: 1, ttlMs: 0, stale: true },
  },
  {
    what: 'stale, since the platform fails',
    steps: [{ uri: TOOLS }, { uri: TOOLS, afterMs: 10 * MINUTE, platform: says(500) }],
    list: { answer: 1, ttlMs: 0, stale: 'upstream_failed' },
    requests: 2,
  },
  {
    what: 'too old to stand in for a platform that fails',
    steps: [{ uri: TOOLS }, { uri: TOOLS, afterMs: 90 * MINUTE, platform: says(500) }],
    error: { code: 'upstream_failed', upstream: 'tools' },
  },
  {
    what: 'projects, which are never stored',
    steps: [{ uri: PROJECTS }, { uri: PROJECTS }],
    list: { answer: 2, ttlMs: 0 },
    requests: 2,
  },
  {
    what: 'no-cache',
    steps: [{ uri: TOOLS }, { uri: TOOLS, afterMs: 10_000, noCache: true }],
    list: { answer: 2, ttlMs: MINUTE },
    requests: 2,
    httpOnly: true,
  },
  {
    what: 'no-cache, while the platform fails',
    steps: [{ uri: TOOLS }, { uri: TOOLS, afterMs: 10_000, noCache: true, platform: says(500) }],
    error: { code: 'upstream_failed', upstream: 'tools' },
    httpOnly: true,
  },
  { what: 'an unknown URI', steps: [{ uri: 'platform://Tools' }], error: { code: 'resource_unknown' }, requests: 0 },
  { what: 'an empty URI', steps: [{ uri: '' }], error: { code: 'uri_missing' }, requests: 0 },
  { what: 'no URI', steps: [{}], error: { code: 'uri_missing' }, requests: 0 },
  {
    what: 'no credential',
    steps: [{ uri: TOOLS, anonymous: true }],
    error: { code: 'credential_missing' },
    requests: 0,
    httpOnly: true,
  },
  fails('401', says(401), 'credential_rejected'),
  fails('403', says(403), 'access_denied'),
  {
    what: '403 to who has read it before',
    steps: [{ uri: TOOLS }, { uri: TOOLS, afterMs: 10 * MINUTE, platform: says(403) }],
    error: { code: 'access_denied', upstream: 'tools' },
  },
  fails('429 with Retry-After', says(429, { 'retry-after': '7' }), 'upstream_rate_limited', 7),
  fails('429 without Retry-After', says(429), 'upstream_rate_limited', 1),
  fails('500', says(500), 'upstream_failed'),
  fails('a redirect', says(302, { location: 'http://localhost/' }), 'upstream_failed'),
  fails('a connection that breaks', (response) => response.destroy(), 'upstream_failed'),
  fails('400', says(400), 'upstream_refused'),
  fails('404', says(404), 'upstream_refused'),
  { ...fails('no answer in time', never, 'upstream_timeout'), upstream: { timeoutMs: 250 } },
  fails('what is no JSON', says(200), 'upstream_invalid'),
  fails('an item without an id', says(200, {}, '{"tools":[{"name":"a"}]}'), 'upstream_invalid'),
  {
    what: 'an open breaker',
    steps: [{ uri: PROJECTS, platform: says(500) }, { uri: PROJECTS }],
    upstream: { breaker: { failurePercent: 1, minimumCalls: 1, openMs: 30_000 } },
    error: { code: 'breaker_open', upstream: 'projects', retryAfterSeconds: 30 },
    requests: 1,
  },
  {
    what: 'too many reads: one read fills the upstream of all three lists',
    steps: [{ uri: PROJECTS, platform: never, held: true }, { uri: TOOLS }],
    upstream: { connections: 1, maxQueue: 0 },
    isOneForAll: true,
    error: { code: 'overloaded', upstream: 'tools', retryAfterSeconds: 1 },
  },
];

/** Arguments of a tool that have the same page as others, and those others. */
export const ARGUMENTS: readonly (readonly [given: object, same: object])[] = [
  [{ query: '', category: '', fields: [], limit: '', cursor: '' }, {}],
  [{ query: '', category: '', fields: '', count_by: '', sort: '', limit: 0, cursor: '' }, {}],
  [{ query: null, category: null, fields: null, count_by: null, limit: null, cursor: null }, {}],
  [{ limit: '1', wait_for_previous: true }, { limit: 1 }],
  [
    { limit: '1', search: 'nothing like it' },
    { limit: 1, search: true },
  ],
  [{ limit: '0' }, { limit: 0 }],
  [{ fields: 'name, id' }, { fields: ['id', 'name'] }],
  [{ count_by: 'name, id' }, { count_by: ['id', 'name'], limit: 0 }],
  [
    { category: 'B', limit: 0 },
    { category: 'b', limit: '0' },
  ],
  [{ name: 'a\u200b' }, { query: 'A\\u{200b}' }],
  [{ sort: '', format: '', changed_since: '' }, {}],
  [{ sort: 'id desc' }, { sort: '-id', format: 'items' }],
  [
    { format: 'table', fields: 'id', sort: '-id' },
    { format: 'table', fields: ['id'], sort: 'id desc' },
  ],
  [{ changed_since: 'none' }, { changed_since: 'other' }],
];
