import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { defineCapability } from '../../src/capabilities/capability.ts';
import { createGateway, type SettingsInput } from '../../src/gateway.ts';
import { onCleanup } from '../support/cleanup.ts';
import { json, startHttpUpstream } from '../support/platform/http-upstream.ts';
import { callOf, RPC_FIELDS } from '../support/rpc.ts';
import { examples, greeting, recorded } from './hook-examples.ts';

const textOf = (file: string) => readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');
const code = readFileSync(new URL('./hook-examples.ts', import.meta.url), 'utf8');

const withoutIndents = (text: string) => text.replace(/^ +/gm, '');

/** The lines of the examples in a file. */
function examplesIn(file: string): string[] {
  const blocks = textOf(file).matchAll(/@example\n(.*?)\n *\*\//gs);
  return [...blocks].map(([, block = '']) => block.replace(/^ *\* ?/gm, ''));
}

describe('the examples of the hooks', () => {
  it('stand above each of them, and are what is tested here', () => {
    const shown = ['core/hooks.ts', 'core/http/request-hooks.ts', 'capabilities/capability.ts'].flatMap(examplesIn);
    for (const example of shown) expect(withoutIndents(code)).to.contain(withoutIndents(example));
    const named = shown.map((example) => /^\w+/.exec(example)?.[0]);
    expect(named).to.include.members(Object.keys(examples));
  });

  it('do what they say', async () => {
    const platform = await startHttpUpstream(json({ tools: [{ id: 't', name: 'T' }] }));
    const credential = { kind: 'session', loginUrl: `${platform.url}/login`, user: 'portico', secret: 'hush' };
    const settings = {
      http: { port: 0 },
      admin: { port: 0 },
      log: { level: 'silent' },
      upstreams: { tools: { baseUrl: platform.url, credential } },
      resources: { projects: { enabled: false }, workflows: { enabled: false } },
      verification: { issuer: 'https://issuer.example', audience: 'portico' },
      greeting: { text: 'Hello' },
    };
    const capabilities = [defineCapability({ open: () => examples }), greeting];
    const gateway = createGateway(settings as SettingsInput, { capabilities });
    onCleanup(() => gateway.close());
    const url = await gateway.start();
    const headers = { authorization: 'Bearer t0ken', ...RPC_FIELDS };
    const called = await fetch(`${url}/mcp`, {
      ...{ method: 'POST', headers, body: JSON.stringify(callOf('list_installed_tools')) },
    });
    const { result } = (await called.json()) as { result: { structuredContent: { total: number } } };
    expect(result.structuredContent.total).to.equal(1);
    const read = `${url}/mcp/v1/resources/read?uri=platform://tools`;
    const busy = await fetch(read, { headers: { ...headers, 'x-load': 'batch' } });
    expect(await busy.json()).to.include({ code: 'overloaded' });
    expect(await (await fetch(`${url}/hello`)).text()).to.equal('Hello');
    expect(await (await fetch(`${url}/offered`)).json()).to.deep.equal({ resources: 1 });
    expect(await (await fetch(`${gateway.adminUrl}/scheme`)).text()).to.equal('platform');
    expect(platform.requests[0]?.headers).to.include({ 'x-session': 'session of tools', 'x-resource': 'tools' });
    const { started, times, methods, reads, calls, subjects, sizes, confirmed, counts } = recorded;
    expect([started.length, times.length]).to.deep.equal([4, 4]);
    expect([methods, reads, calls]).to.deep.equal([['tools/call'], ['tools'], [platform.url]]);
    expect([...subjects.values()]).to.deep.equal(['t0ken']);
    expect([sizes.get('tools'), ...confirmed.values(), ...counts.values()]).to.deep.equal([1, 1, 1]);
  });
});
