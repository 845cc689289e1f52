import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { MAIN, porticoEnvironment, startPortico } from '../../support/process/process.ts';
import { servedFrom, settingsFile } from '../../support/process/serving.ts';

const REPORTER = fileURLToPath(new URL('loaded/report.ts', import.meta.url));

const LIST = '/mcp/v1/resources';
const READ = `${LIST}/read?uri=platform://tools`;

/**
 * What Portico with these settings has loaded once it has been asked for each group of targets, one group after the other: packages
 * and their files, and parts of Node by their own names.
 */
async function loadedBy(settings: object, ...groups: readonly (readonly string[])[]) {
  const file = await settingsFile(servedFrom('http://127.0.0.1:9', settings));
  const args = ['--import', REPORTER, MAIN, 'serve', '--config', file];
  const portico = startPortico(process.execPath, args, porticoEnvironment());
  const url = await portico.ready;
  const told = () => [...portico.stderr().matchAll(/^loaded: (.*)$/gm)].map(([, line = '']) => line);
  for (const [index, targets] of groups.entries()) {
    for (const target of targets) await fetch(`${url}${target}`, { headers: { Authorization: 'Bearer token' } });
    portico.child.kill('SIGUSR2');
    await eventually(() => told().length > index);
  }
  await portico.stop();
  return told().map((line): readonly string[] => JSON.parse(line));
}

describe('a module of a feature that is off', () => {
  it('is not loaded, nor undici and TLS before the first connection', async () => {
    const [before, loaded] = await loadedBy({ admin: { enabled: false } }, ['/livez', LIST], [READ]);
    for (const late of ['undici', 'tls', 'https']) expect(before).not.to.include(late);
    expect(loaded).to.include.members(['zod', 'undici', 'pino', 'http']);
    for (const off of [
      ...['jose', 'openid-client', '@redis/client', 'prom-client', '@modelcontextprotocol/server'],
      // The last one is Node's own fetch.
      ...['@opentelemetry/sdk-trace', 'internal/deps/undici/undici'],
    ]) {
      expect(loaded).not.to.include(off);
    }
  });

  it('is loaded when the feature is on', async () => {
    const verification = { issuer: 'https://issuer.example', audience: 'portico' };
    const on = { limits: { perCaller: 1000 }, log: { format: 'pretty' }, tracing: { enabled: true }, verification };
    const [loaded] = await loadedBy(on, []);
    expect(loaded).to.include.members(['jose', '@opentelemetry/sdk-trace']);
  });
});
