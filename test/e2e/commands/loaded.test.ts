import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { inFolder, MAIN, porticoEnvironment, startPortico, writeSettings } from '../../support/process/process.ts';

const REPORTER = fileURLToPath(new URL('loaded/report.ts', import.meta.url));

const LIST = '/mcp/v1/resources';
const READ = `${LIST}/read?uri=platform://tools`;
const UPSTREAM = '{ baseUrl: "http://127.0.0.1:9" }';
const SETTINGS = `
http: { port: 0 }
admin: { port: 0 }
upstreams: { projects: ${UPSTREAM}, workflows: ${UPSTREAM}, tools: ${UPSTREAM} }
`;

/** What Portico with these settings has loaded when it is ready, and has been asked for these targets: packages and their files, and parts of Node by their own names. */
async function loadedBy(settings: string, targets: readonly string[] = []): Promise<readonly string[]> {
  return inFolder(async (folder) => {
    const file = await writeSettings(folder, settings);
    const args = ['--import', REPORTER, MAIN, 'serve', '--config', file];
    const portico = startPortico(process.execPath, args, porticoEnvironment());
    const url = await portico.ready;
    for (const target of targets) await fetch(`${url}${target}`, { headers: { Authorization: 'Bearer token' } });
    portico.child.kill('SIGUSR2');
    const line = await eventually(() => /^loaded: (.*)$/m.exec(portico.stderr())?.[1]);
    await portico.stop();
    return JSON.parse(line);
  });
}

describe('a module of a feature that is off', () => {
  it('is not loaded', async () => {
    const settings = SETTINGS.replace('admin: { port: 0 }', 'admin: { port: 0, metrics: false }');
    const loaded = await loadedBy(settings, ['/livez', LIST, READ]);
    expect(loaded).to.include.members(['zod', 'undici', 'pino', 'http']);
    for (const off of [
      ...['jose', 'openid-client', '@redis/client', 'pino-pretty', 'prom-client', '@modelcontextprotocol/server'],
      // The last one is Node's own fetch.
      ...['koa', '@koa/router', 'internal/deps/undici/undici'],
    ]) {
      expect(loaded).not.to.include(off);
    }
  });

  it('is not loaded: undici and TLS before the first connection, prom-client before the first scrape', async () => {
    const loaded = await loadedBy(SETTINGS, ['/livez', LIST]);
    for (const late of ['undici', 'tls', 'https', 'prom-client']) expect(loaded).not.to.include(late);
  });

  it('is loaded when the feature is on', async () => {
    const loaded = await loadedBy(`${SETTINGS}
limits: { total: 1000 }
log: { format: pretty }
tracing: { enabled: true }
verification: { issuer: "https://issuer.example", audience: portico }
`);
    expect(loaded).to.include.members(['jose', 'pino-pretty']);
  });

  it('is loaded when it is first needed', async () => {
    expect(await loadedBy(SETTINGS, [`${READ}&more`])).to.include.members(['koa', '@koa/router']);
  });
});
