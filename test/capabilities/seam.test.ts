import { expect } from 'chai';
import nock from 'nock';
import { z } from 'zod';
import type { AnyCapability } from '../../src/capabilities/capability.ts';
import { defineCapability } from '../../src/capabilities/capability.ts';
import { CAPABILITIES } from '../../src/capabilities/index.ts';
import { createGateway, type SettingsInput } from '../../src/gateway.ts';
import { mockPlatform } from '../../src/testing/mock-platform.ts';
import { onCleanup } from '../support/cleanup.ts';
import { useNock } from '../support/nock.ts';

const AUTHORIZED = { headers: { authorization: 'Bearer t0ken' } };

/** A gateway over a mocked platform, until the test ends. */
async function started(settings: object, capabilities: readonly AnyCapability[]): Promise<string> {
  const { upstreams } = mockPlatform(nock);
  const quiet = { http: { port: 0 }, admin: { enabled: false }, log: { level: 'silent' }, upstreams };
  const gateway = createGateway({ ...quiet, ...settings } as SettingsInput, { capabilities });
  onCleanup(() => gateway.close());
  return gateway.start();
}

describe('a capability defined outside src', () => {
  useNock();

  it('has settings, an endpoint, a wrapper around reads, hooks and a listener', async () => {
    const calls: string[] = [];
    const greeting = defineCapability({
      settings: { key: 'greeting', schema: z.strictObject({ text: z.string() }).prefault({ text: 'hello' }) },
      open: ({ text }) => ({
        operations: () => [
          {
            path: '/greeting',
            methods: ['GET'],
            takesBody: false,
            isProbe: false,
            open: true,
            respond: () => ({ status: 200, headers: ['Content-Type', 'text/plain'], body: Buffer.from(text) }),
          },
        ],
        wrapRead: (read, resource) => (caller, options) => {
          calls.push(`read ${resource}`);
          return read(caller, options);
        },
        onRequest: ({ url }) => void calls.push(`request ${url}`),
        onCaller: (_, { key }) => void calls.push(`caller ${key.length}`),
        listeners: [{ requestEnded: ({ outcome }) => void calls.push(`ended ${outcome}`) }],
        async start() {
          calls.push('start');
        },
      }),
    });
    const url = await started({ greeting: { text: 'good morning' } }, [greeting]);
    expect(await (await fetch(`${url}/greeting`)).text()).to.equal('good morning');
    mockPlatform(nock).list('tools', []);
    const read = '/mcp/v1/resources/read?uri=platform://tools';
    expect(await (await fetch(`${url}${read}`, AUTHORIZED)).json()).to.deep.equal([]);
    expect(calls).to.deep.equal([
      'start',
      ...['request /greeting', 'ended ok'],
      ...[`request ${read}`, 'caller 43', 'read tools', 'ended ok'],
    ]);
  });

  it('has its settings checked with those of the core', () => {
    const strict = defineCapability({
      settings: { key: 'strict', schema: z.strictObject({ size: z.number() }).prefault({ size: 1 }) },
      open: () => undefined,
    });
    const settings = { upstreams: mockPlatform(nock).upstreams, strict: { size: 'x' } };
    expect(() => createGateway(settings as SettingsInput, { capabilities: [strict] })).to.throw('strict.size');
    expect(() => createGateway(settings as SettingsInput)).to.throw('strict');
  });
});

/** Requests of the contract (DESIGN.md, section 1), each with what every gateway answers. */
async function contractOf(url: string): Promise<unknown[]> {
  const platform = mockPlatform(nock);
  for (const _ of [1, 2])
    platform.list('projects', [{ id: 'p-1', name: 'Payments', createTime: '2026-01-02T03:04:05Z' }]);
  platform.list('workflows', [{ id: 'w-1', name: 'Scan', version: '1.0.0' }]);
  platform.reply('tools', 400);
  const rpc = (method: string, params = {}) =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        ...AUTHORIZED.headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
  const read = (name: string, init = AUTHORIZED) => fetch(`${url}/mcp/v1/resources/read?uri=platform://${name}`, init);
  const responses = [
    await fetch(`${url}/mcp/v1/resources`, AUTHORIZED),
    await read('projects'),
    await read('workflows'),
    await read('workflows'),
    await read('tools'),
    await read('unknown'),
    await fetch(`${url}/mcp/v1/resources/read?uri=platform://projects`),
    await fetch(`${url}/mcp/v1/resources`, { ...AUTHORIZED, method: 'DELETE' }),
    await fetch(`${url}/nowhere`, AUTHORIZED),
    await fetch(`${url}/livez`),
    await rpc('resources/list'),
    await rpc('resources/read', { uri: 'platform://projects' }),
    await rpc('tools/list'),
    await rpc('tools/call', { name: 'list_workflows', arguments: {} }),
  ];
  return Promise.all(
    responses.map(async (response) => ({
      status: response.status,
      type: response.headers.get('content-type'),
      body: (await response.text()).replaceAll(/"(requestId|instance|loadedAt)":"[^"]*"/g, '"$1":"…"'),
    })),
  );
}

describe('the contract of the core', () => {
  useNock();

  let whole: unknown[];

  it('is answered with all capabilities', async () => {
    whole = await contractOf(await started({}, CAPABILITIES));
    expect(whole.map((response) => (response as { status: number }).status)).to.deep.equal([
      ...[200, 200, 200, 200, 502, 404, 401, 405, 404, 200],
      ...[200, 200, 200, 200],
    ]);
  });

  it('is answered the same with none', async () => {
    expect(await contractOf(await started({}, []))).to.deep.equal(whole);
  });

  for (const [index, capability] of CAPABILITIES.entries()) {
    it(`is answered the same without ${capability.settings?.key ?? `capability ${index}`}`, async () => {
      const others = CAPABILITIES.filter((other) => other !== capability);
      expect(await contractOf(await started({}, others))).to.deep.equal(whole);
    });
  }
});
