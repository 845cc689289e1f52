import { expect } from 'chai';
import { aWhile } from '../../support/a-while.ts';
import { eventually } from '../../support/eventually.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { manyTools } from '../../support/platform/loads.ts';
import { linesIn } from '../../support/process/json-lines.ts';
import { endWithTest, inFolder, runPortico, writeSettings } from '../../support/process/process.ts';

const TIMEOUT_MS = 2000;
const CALLERS = 10;

describe('a process that is stopped for longer than an upstream timeout', () => {
  it('answers with what the platform sent meanwhile, and logs no fault of the platform', () =>
    inFolder(async (folder) => {
      const page = json({ tools: manyTools(50), nextPageToken: '' });
      const kept: (() => void)[] = [];
      const platform = await startHttpUpstream((...exchange) => void kept.push(() => page(...exchange)));
      const upstream = `{ baseUrl: "${platform.url}", timeoutMs: ${TIMEOUT_MS} }`;
      const upstreams = `{ projects: ${upstream}, workflows: ${upstream}, tools: ${upstream} }`;
      const portico = runPortico([
        'serve',
        await writeSettings(folder, `http: { port: 0 }\nadmin: { enabled: false }\nupstreams: ${upstreams}\n`),
      ]);
      endWithTest(portico.child);
      const url = `${await portico.ready}/mcp/v1/resources/read?uri=platform://tools`;
      const reads = Array.from({ length: CALLERS }, (_, caller) =>
        fetch(url, { headers: { authorization: `Bearer token-${caller}` } }),
      );
      await eventually(() => kept.length === CALLERS);
      portico.child.kill('SIGSTOP');
      for (const answer of kept) answer();
      await aWhile(2 * TIMEOUT_MS);
      portico.child.kill('SIGCONT');
      expect((await Promise.all(reads)).map(({ status }) => status)).to.deep.equal(Array(CALLERS).fill(200));
      portico.child.kill('SIGTERM');
      const { stdout } = await portico.ended;
      expect(linesIn(stdout).filter(({ level }) => level !== 'info')).to.deep.equal([]);
    }));
});
