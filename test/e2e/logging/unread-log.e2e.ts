import { once } from 'node:events';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { sendMany } from '../../support/platform/many-requests.ts';
import { startLoggingTo } from '../../support/process/serving.ts';

const REQUESTS = 25_000;

describe('a log that is not read', () => {
  it('drops lines at its bound, logs how many, and does not stop responses', async () => {
    const { child, ended, port, adminUrl, ask } = await startLoggingTo('pipe');
    const stdout = child.stdout ?? expect.fail();
    await sendMany(port, REQUESTS);
    expect((await ask('/livez')).status).to.equal(200);
    // What PorticoLogLinesDropped asks for.
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    const [, dropped] = /^portico_log_lines_dropped_total (\d+)$/m.exec(metrics) ?? [];
    expect(Number(dropped)).to.be.greaterThan(0);
    let text = '';
    stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    // Read as far as it goes: what is held at the end has half a second, and no slow reader.
    await eventually(() => text.includes('"log lines dropped"'));
    child.kill('SIGTERM');
    await once(stdout, 'end');
    expect(await ended).to.deep.equal([0, null]);
    const lines = text.trimEnd().split('\n');
    const written = lines.filter((line) => line.includes('"unmatched"')).length;
    expect(written).to.be.lessThan(REQUESTS);
    const told = lines.flatMap((line) => (line.includes('"log lines dropped"') ? [JSON.parse(line).lines] : []));
    // The lines of the shutdown and of the scrape may be among them.
    expect(written + told.reduce((sum, dropped) => sum + dropped, 0)).to.be.within(REQUESTS, REQUESTS + 3);
  }).timeout(60_000);
});
