import { connect } from 'node:net';
import { expect } from 'chai';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { linesIn } from '../../support/process/json-lines.ts';
import { MAIN, porticoEnvironment, settingsFile, startPortico } from '../../support/process/process.ts';
import { READ_TOOLS, servedFrom } from '../../support/process/serving.ts';

const LIMIT = 256;

/** Runs `portico` with so many file descriptors, and waits until it is ready. */
async function startWithin(limit: number) {
  const platform = await startHttpUpstream(lists({ tools: [{ id: 'a', name: 'A', version: '1.0.0', category: 'c' }] }));
  const file = await settingsFile(servedFrom(platform.url));
  const words = ['-c', `ulimit -n ${limit} && exec "$0" "$@"`, process.execPath, MAIN, 'serve', file];
  const portico = startPortico('sh', words, porticoEnvironment());
  const url = await portico.ready;
  const adminUrl = /"adminUrl":"([^"]+)"/.exec(portico.stdout())?.[1] ?? '';
  return { portico, url, adminUrl };
}

function flood(url: string, connections: number): void {
  for (let count = 0; count < connections; count += 1) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
    onCleanup(() => socket.destroy());
  }
}

/** The status of a response; 0 without one. */
async function statusOf(url: string): Promise<number> {
  const headers = { authorization: 'Bearer token.', connection: 'close' };
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(2000) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

describe('a process with few file descriptors', () => {
  it('answers probes and metrics, and reads again, while idle connections fill its public listener', async () => {
    const { portico, url, adminUrl } = await startWithin(LIMIT);
    flood(url, 2 * LIMIT);
    await eventually(async () => (await statusOf(`${url}/livez`)) === 0);
    for (const path of ['/livez', '/readyz', '/metrics', '/status']) {
      for (let times = 0; times < 5; times += 1) expect(await statusOf(`${adminUrl}${path}`), path).to.equal(200);
    }
    await eventually(async () => (await statusOf(`${url}${READ_TOOLS}`)) === 200, 5000);
    await eventually(async () => (await statusOf(`${url}/readyz`)) === 200, 5000);
    const { stderr, stdout } = await portico.stop();
    expect(stderr).to.equal('');
    const [capped] = linesIn(stdout).filter(({ msg }) => msg === 'connections capped by the limit of open files');
    expect(capped).to.include({ level: 'warn', configured: 10_000, maxDescriptors: LIMIT, maxConnections: 64 });
  });
});
