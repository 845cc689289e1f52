import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { inFolder, MAIN, porticoEnvironment, startPortico, writeSettings } from '../../support/process/process.ts';
import { servedFrom } from '../../support/process/serving.ts';

const REPORTER = fileURLToPath(new URL('loaded/report.ts', import.meta.url));

const LIST = '/mcp/v1/resources';
const READ = `${LIST}/read?uri=platform://tools`;

/**
 * What Portico with these settings has loaded when it is ready, and has been asked for these targets: packages and their
 * files, and parts of Node by their own names.
 */
async function loadedBy(settings: object, targets: readonly string[] = []): Promise<readonly string[]> {
  return inFolder(async (folder) => {
    const file = await writeSettings(folder, servedFrom('http://127.0.0.1:9', settings));
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
    const loaded = await loadedBy({ admin: { enabled: false } }, ['/livez', LIST, READ]);
    expect(loaded).to.include.members(['zod', 'undici', 'pino', 'http']);
    for (const off of [
      ...['jose', 'openid-client', '@redis/client', 'prom-client', '@modelcontextprotocol/server'],
      // The last one is Node's own fetch.
      ...['@opentelemetry/sdk-trace', 'internal/deps/undici/undici'],
    ]) {
      expect(loaded).not.to.include(off);
    }
  });

  it('is not loaded: undici and TLS before the first connection, without metrics', async () => {
    const loaded = await loadedBy({ admin: { enabled: false } }, ['/livez', LIST]);
    for (const late of ['undici', 'tls', 'https']) expect(loaded).not.to.include(late);
  });

  it('is loaded when the feature is on', async () => {
    const verification = { issuer: 'https://issuer.example', audience: 'portico' };
    const on = { limits: { perCaller: 1000 }, log: { format: 'pretty' }, tracing: { enabled: true }, verification };
    const loaded = await loadedBy(on);
    expect(loaded).to.include.members(['jose', '@opentelemetry/sdk-trace']);
  });
});
