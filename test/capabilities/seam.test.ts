import { join } from 'node:path';
import { expect } from 'chai';
import nock from 'nock';
import { z } from 'zod';
import type { AnyCapability } from '../../src/capabilities/capability.ts';
import { defineCapability } from '../../src/capabilities/capability.ts';
import { CAPABILITIES } from '../../src/capabilities/index.ts';
import { ConfigError } from '../../src/core/config/config-error.ts';
import type { Operation } from '../../src/core/http/operations/operation.ts';
import { createGateway, type Gateway, type SettingsInput } from '../../src/gateway.ts';
import { mockPlatform } from '../../src/testing/mock-platform.ts';
import { onCleanup } from '../support/cleanup.ts';
import { eventually } from '../support/eventually.ts';
import { useNock } from '../support/nock.ts';
import { newFolder } from '../support/process/process.ts';
import { callOf, RPC_FIELDS, readOf, rpc } from '../support/rpc.ts';
import { subscribe } from './live-lists/subscriber.ts';

const AUTHORIZED = { headers: { authorization: 'Bearer t0ken' } };

async function started(settings: object, capabilities: readonly AnyCapability[]): Promise<string> {
  return gatewayOf(settings, capabilities).start();
}

function gatewayOf(settings: object, capabilities: readonly AnyCapability[]): Gateway {
  const gateway = createGateway(settingsOf(settings), { capabilities });
  onCleanup(() => gateway.close());
  return gateway;
}

function settingsOf(settings: object): SettingsInput {
  const { upstreams } = mockPlatform(nock);
  const quiet = { http: { port: 0 }, admin: { enabled: false }, log: { level: 'silent' }, upstreams };
  return { ...quiet, ...settings } as SettingsInput;
}

const pageOf = (path: string, text: string): Operation => ({
  ...{ path, methods: ['GET'], auth: 'none' },
  respond: () => ({ status: 200, headers: { 'Content-Type': 'text/plain' }, body: Buffer.from(text) }),
});

describe('a capability defined outside src', () => {
  useNock();

  it('has settings, an endpoint, a wrapper around reads, a watch, hooks and a listener', async () => {
    const calls: string[] = [];
    const greeting = defineCapability({
      settings: { key: 'greeting', schema: z.strictObject({ text: z.string() }).prefault({ text: 'hello' }) },
      open: ({ text }) => ({
        operations: () => [pageOf('/greeting', text)],
        wrapRead: (read, resource) => (caller, options) => {
          calls.push(`read ${resource}`);
          return read(caller, options);
        },
        async watch({ resources, caller, catalogue, until }) {
          const { snapshot } = await catalogue.read('tools', caller, { signal: AbortSignal.any([...until]) });
          return (async function* () {
            const { etag } = snapshot;
            if (snapshot.count === 0) yield* resources.map((name) => ({ name, etag }));
          })();
        },
        onRequest: ({ req }) => void calls.push(`request ${req.url}`),
        onCaller: (_, { credentialKey: key }) => void calls.push(`caller ${key.length}`),
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
    const { received } = await subscribe(url, { token: 't0ken', resources: ['projects'] });
    const [, { params }, { result }] = await received(3);
    expect(params.uri).to.equal('platform://projects');
    expect(result.resultType).to.equal('complete');
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

describe('a reload', () => {
  useNock();

  const calls: string[] = [];
  beforeEach(() => calls.splice(0));

  /** A capability that records its calls, with a page on both listeners that shows its setting. */
  const recording = <const Key extends string>(key: Key) =>
    defineCapability({
      settings: { key, schema: z.strictObject({ text: z.string() }).prefault({ text: '1' }) },
      open({ text }) {
        calls.push(`${key} open ${text}`);
        const operations = () => [pageOf(`/${key}`, text)];
        return {
          operations,
          adminOperations: operations,
          onReload: ({ scheme }) => void calls.push(`${key} reload ${scheme}`),
          start: async () => void calls.push(`${key} start ${text}`),
          stop: async () => void calls.push(`${key} stop ${text}`),
        };
      },
    });
  const both = [recording('one'), recording('other')];
  const admin = { enabled: true, port: 0 };
  const textOf = async (url: string) => (await fetch(url)).text();

  it('reopens, starts and later stops only the capabilities whose settings have changed', async () => {
    const gateway = gatewayOf({ admin }, both);
    const url = await gateway.start();
    expect(calls.splice(0)).to.deep.equal(['one open 1', 'other open 1', 'one start 1', 'other start 1']);
    gateway.change(settingsOf({ admin, one: { text: '2' } }));
    await eventually(() => calls.includes('one stop 1'));
    expect(calls).to.deep.equal(['one open 2', 'other reload platform', 'one start 2', 'one stop 1']);
    for (const listener of [url, gateway.adminUrl]) {
      expect(await textOf(`${listener}/one`)).to.equal('2');
      expect(await textOf(`${listener}/other`)).to.equal('1');
    }
  });

  it('that cannot be applied reports nothing to the kept capabilities, and stops the reopened ones', async () => {
    const folder = await newFolder();
    const gateway = gatewayOf({}, both);
    const url = await gateway.start();
    calls.splice(0);
    const { upstreams } = mockPlatform(nock);
    const tools = { ...upstreams['tools'], credential: { kind: 'service', file: join(folder, 'missing') } };
    const settings = { scheme: 'other', one: { text: '2' }, allowUnverifiedCallers: true };
    const wrong = settingsOf({ ...settings, upstreams: { ...upstreams, tools } });
    expect(() => gateway.change(wrong)).to.throw('upstreams.tools.credential.file');
    await eventually(() => calls.includes('one stop 2'));
    expect(calls).to.deep.equal(['one open 2', 'one stop 2']);
    expect(await textOf(`${url}/one`)).to.equal('1');
  });

  const unusable = { baseUrl: 'https://platform.example', credential: { kind: 'service', file: '/nowhere' } };
  for (const [what, hook, next] of [
    [
      'that is refused reports a reopened capability that cannot stop',
      'stop',
      { allowUnverifiedCallers: true, upstreams: { tools: unusable } },
    ],
    ['reports a capability that cannot start', 'start', {}],
  ] as const) {
    it(`${what}, and serves on`, async () => {
      const failing = defineCapability({
        settings: { key: 'failing', schema: z.strictObject({ fails: z.boolean() }).prefault({ fails: false }) },
        open: ({ fails }) => ({
          async [hook]() {
            if (fails) throw new Error('a failing hook');
          },
        }),
      });
      const stacks: string[] = [];
      const listening = defineCapability({
        open: () => ({ listeners: [{ internalError: ({ stack }) => void stacks.push(stack) }] }),
      });
      const gateway = gatewayOf({}, [failing, listening]);
      const url = await gateway.start();
      const change = () => gateway.change(settingsOf({ failing: { fails: true }, ...next }));
      if (hook === 'stop') expect(change).to.throw('upstreams.tools.credential.file');
      else change();
      await eventually(() => stacks.length === 1);
      expect(stacks[0]).to.contain('a failing hook');
      expect((await fetch(`${url}/livez`)).status).to.equal(200);
    });
  }
});

describe('a gateway that closes', () => {
  it('stops all its capabilities in reverse order, even if one fails', async () => {
    const stopped: string[] = [];
    const stopping = (name: string) =>
      defineCapability({
        open: () => ({
          async stop() {
            stopped.push(name);
            if (name === 'second') throw new Error('it does not stop');
          },
        }),
      });
    const gateway = createGateway(settingsOf({}), { capabilities: ['first', 'second', 'third'].map(stopping) });
    await gateway.start();
    const error = await gateway.close().catch((reason) => reason);
    expect(error.message).to.equal('it does not stop');
    expect(stopped).to.deep.equal(['third', 'second', 'first']);
  });
});

describe('a gateway with several unusable files', () => {
  it('reports those of the core and of its capabilities together', async () => {
    const folder = await newFolder();
    const file = join(folder, 'missing');
    const platform = { baseUrl: 'https://platform.example', credential: { kind: 'service', file } };
    const settings = {
      upstreams: { projects: platform, workflows: platform, tools: platform },
      allowUnverifiedCallers: true,
      audit: { enabled: true, keyFile: file },
      http: { port: 0, tls: { certFile: file, keyFile: file } },
    };
    const paths = ['audit.keyFile', 'upstreams.tools.credential.file', 'http.tls.certFile'];
    const open = () => createGateway(settings as SettingsInput);
    for (const path of paths) expect(open, path).to.throw(ConfigError, path);
  });
});

/** Requests of the contract (DESIGN.md, section 1), each with what every gateway answers. */
async function contractOf(url: string): Promise<unknown[]> {
  const platform = mockPlatform(nock);
  for (const _ of [1, 2])
    platform.list('projects', [{ id: 'p-1', name: 'Payments', createTime: '2026-01-02T03:04:05Z' }]);
  platform.list('workflows', [{ id: 'w-1', name: 'Scan', version: '1.0.0' }]);
  platform.reply('tools', 400);
  const post = (message: object) =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { ...AUTHORIZED.headers, ...RPC_FIELDS },
      body: JSON.stringify(message),
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
    await post(rpc('resources/list')),
    await post(readOf('projects')),
    await post(rpc('tools/list')),
    await post(callOf('list_installed_workflows')),
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
    expect(whole.map((response) => (response as { status: number }).status).join()).to.equal(
      '200,200,200,200,502,404,401,405,404,200,200,200,200,200',
    );
  });

  for (const left of [undefined, ...CAPABILITIES]) {
    const name = left === undefined ? 'any' : (left.settings?.key ?? `capability ${CAPABILITIES.indexOf(left)}`);
    it(`is answered the same without ${name}`, async () => {
      const others = left === undefined ? [] : CAPABILITIES.filter((other) => other !== left);
      expect(await contractOf(await started({}, others))).to.deep.equal(whole);
    });
  }
});
