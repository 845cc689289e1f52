import { expect } from 'chai';
import { demoInstructions } from '../../src/demo/instructions.ts';
import { codeBlocks } from '../support/docs.ts';
import { withPlatform } from './lists.ts';

const URLS = { projects: 'http://127.0.0.1:1001', workflows: 'http://127.0.0.1:1002', tools: 'http://127.0.0.1:1003' };

/** The lines to try, with what a shell would hand to curl. */
function curlLines(gatewayUrl: string, urls = URLS) {
  const lines = demoInstructions(gatewayUrl, urls).match(/^curl .*$/gm) ?? [];
  return lines.map((line) => ({
    line,
    method: /-X (\S+)/.exec(line)?.[1] ?? 'GET',
    url: / '(http[^']+)'/.exec(line)?.[1] ?? '',
    token: / -H 'Authorization: Bearer ([\w-]+)'$/.exec(line)?.[1],
  }));
}

describe('demoInstructions', () => {
  it('has the lines that README shows of it', () => {
    const shown = codeBlocks('README.md', 'sh').flatMap((block) => block.match(/^curl .+$/gm) ?? []);
    expect(shown).to.have.length(3);
    expect(curlLines('http://127.0.0.1:8080').map(({ line }) => line)).to.include.members(shown);
  });

  it('switches faults and latency on and leaves the APIs as they were', () =>
    withPlatform(async (urls) => {
      const fault = { unavailable: false, latency: false };
      const ofDemo = curlLines('http://127.0.0.1:8080', urls).filter(({ url }) => url.includes('/demo'));
      for (const { method, url } of ofDemo) {
        const response = await fetch(url, { method });
        expect(response.status, url).to.equal(200);
        const state = (await response.json()) as { fault: string | null; latencyMs: number };
        fault.unavailable ||= state.fault === 'unavailable';
        fault.latency ||= state.latencyMs > 0;
      }
      expect(fault).to.deep.equal({ unavailable: true, latency: true });
      for (const url of Object.values(urls)) {
        expect(await (await fetch(`${url}/demo`)).json()).to.include({ fault: null, latencyMs: 0 });
      }
    }));
});
