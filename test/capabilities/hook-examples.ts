import { z } from 'zod';
import { defineCapability } from '../../src/capabilities/capability.ts';
import { createKeyOf } from '../../src/core/credentials/authenticate.ts';
import type { Contribution } from '../../src/core/hooks.ts';
import { openOperation, publishedOperation, unstored } from '../../src/core/http/operations/operation.ts';
import type { Credential } from '../../src/core/kernel/caller.ts';
import { GatewayError } from '../../src/core/kernel/errors.ts';
import { shareNothing } from '../../src/core/sharing.ts';

/** What the examples use, and record. */
export const recorded = {
  ...{
    started: [] as string[],
    times: [] as number[],
    methods: [] as string[],
    reads: [] as string[],
    calls: [] as string[],
  },
  ...{ subjects: new Map(), sizes: new Map(), confirmed: new Map(), states: new Map(), banned: new Set() },
  counts: new Map<string, number>(),
};
const { started, times, methods, reads, calls, subjects, sizes, confirmed, states, banned, counts } = recorded;
const isBusy = () => true;
const endOfShift = () => Date.now() + 60_000;
const secretOfAllReplicas = Buffer.alloc(32, 'a');
const logIn = async (upstream: string) => `session of ${upstream}`;

function count(key: string): number {
  counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts.get(key) ?? 0;
}

async function ask(credential: Credential) {
  const subject = credential.reveal();
  return {
    expiresAt: Number.POSITIVE_INFINITY,
    verified: { subject, subjectKey: undefined, scopes: new Set<string>() },
  };
}

async function* changesOf(names: readonly string[], until: AbortSignal) {
  until.throwIfAborted();
  for (const name of names) yield { name, etag: 'W/"other"' };
}

/** The examples of the hooks, which a test compares with their comments. */
export const examples: Contribution = {
  onRequest: ({ record }, { path }) => void started.push(`${record.requestId} ${path}`),
  preAuthenticate({ req }) {
    if (req.headers['x-load'] === 'batch' && isBusy()) throw new GatewayError('overloaded');
  },
  preVerify(_request, callerKey) {
    if (banned.has(callerKey)) throw new GatewayError('rate_limited', { retryAfterSeconds: 60 });
  },
  onCaller: ({ requestId }, { verified }) => void subjects.set(requestId, verified?.subject),
  countAgainstLimits(request, caller) {
    if (count(caller?.credentialKey ?? request.address) > 1000) throw new GatewayError('rate_limited');
  },
  onSettled: ({ record }) => void times.push(performance.now() - record.startedAt),
  wrapDispatch: (dispatch) => (request, revision, context) => {
    methods.push(request.method);
    return dispatch(request, revision, context);
  },
  wrapVerify: (verify) => async (credential, key) => {
    const verdict = await verify(credential, key);
    return { ...verdict, expiresAt: Math.min(verdict.expiresAt, endOfShift()) };
  },
  wrapRead: (read, resource) => (caller, options) => {
    reads.push(resource);
    return read(caller, options);
  },
  wrapLoad: (load, resource) => async (caller, signal, options) => {
    const loaded = await load(caller, signal, options);
    sizes.set(resource, loaded.snapshot.count);
    return loaded;
  },
  wrapUpstream: (upstream, resource) => ({
    ...upstream,
    get: (page, signal) => upstream.get({ ...page, headers: { ...page.headers, 'x-resource': resource } }, signal),
  }),
  wrapClient: (client, baseUrl) => ({
    ...client,
    get: (page, signal) => client.get(page, signal).finally(() => calls.push(baseUrl)),
  }),
  operations: ({ offered }) => [publishedOperation('/offered', { resources: offered.length })],
  adminOperations: ({ config }) => [openOperation('/scheme', () => unstored(config.scheme, 'text/plain'))],
  verifier: {
    verify: async (credential, key) => ({ cacheScope: key, ...(await ask(credential)) }),
  },
  credentials: {
    session: (_settings, { upstream }) => ({ authorize: async () => ({ 'x-session': await logIn(upstream) }) }),
  },
  watch: async ({ resources, until }) => changesOf(resources, AbortSignal.any([...until])),
  openConfirmation: (resource) => ({
    isDue: () => !confirmed.has(resource),
    confirm: async ({ items }) => void confirmed.set(resource, items),
  }),
  sharing: { ...shareNothing(), keyOf: createKeyOf(secretOfAllReplicas) },
  listeners: [{ breakerChanged: ({ upstream, state }) => void states.set(upstream, state) }],
};

// `greeting: { text: Hello }` in settings adds GET /hello. Its line in index.ts is all that the gateway needs to know of it.
export const greeting = defineCapability({
  settings: { key: 'greeting', schema: z.strictObject({ text: z.string().default('') }).prefault({}) },
  open: ({ text }) => {
    if (text === '') return undefined;
    return { operations: () => [openOperation('/hello', () => unstored(text, 'text/plain'))] };
  },
});
