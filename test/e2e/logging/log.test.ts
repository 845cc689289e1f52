import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/listening.ts';
import { sendMany } from '../../support/platform/many-requests.ts';
import { endWithTest, inFolder, MAIN, porticoEnvironment, writeSettings } from '../../support/process/process.ts';

const REQUESTS = 25_000;

describe('a log that is not read', () => {
  it('drops lines at its bound, logs how many, and does not stop responses', async () => {
    await inFolder(async (folder) => {
      const port = await freePort();
      const adminPort = await freePort();
      const file = await writeSettings(
        folder,
        `
http: { port: ${port} }
admin: { port: ${adminPort} }
upstreams:
  projects: { baseUrl: http://127.0.0.1:9 }
  workflows: { baseUrl: http://127.0.0.1:9 }
  tools: { baseUrl: http://127.0.0.1:9 }
`,
      );
      const child = spawn(process.execPath, [MAIN, '--config', file], {
        env: porticoEnvironment(),
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      endWithTest(child);
      const exited = once(child, 'exit');
      await eventually(() =>
        fetch(`http://127.0.0.1:${port}/livez`).then(
          () => true,
          () => undefined,
        ),
      );
      await sendMany(port, REQUESTS);
      expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).to.equal(200);
      // What PorticoLogLinesDropped asks for.
      const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
      const [, dropped] = /^portico_log_lines_dropped_total (\d+)$/m.exec(metrics) ?? [];
      expect(Number(dropped)).to.be.greaterThan(0);
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      // Read as far as it goes: what is held at the end has half a second, and no slow reader.
      await eventually(() => text.includes('"log lines dropped"'));
      child.kill('SIGTERM');
      await once(child.stdout, 'end');
      expect(await exited).to.deep.equal([0, null]);
      const lines = text.trimEnd().split('\n');
      const written = lines.filter((line) => line.includes('"unmatched"')).length;
      expect(written).to.be.lessThan(REQUESTS);
      const told = lines.flatMap((line) => (line.includes('"log lines dropped"') ? [JSON.parse(line).lines] : []));
      // The lines of the shutdown and of the scrape may be among them.
      expect(written + told.reduce((sum, dropped) => sum + dropped, 0)).to.be.within(REQUESTS, REQUESTS + 3);
    });
  }).timeout(60_000);
});
