import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { MAIN, porticoEnvironment, startPortico } from '../../support/process/process.ts';
import { servedFrom, settingsFile } from '../../support/process/serving.ts';

const REPORTER = fileURLToPath(new URL('loaded/report.ts', import.meta.url));

const LIST = '/mcp/v1/resources';
const READ = `${LIST}/read?uri=platform://tools`;

const OFF = [
  ...['jose', 'openid-client', '@redis/client', 'prom-client', '@modelcontextprotocol/server'],
  '@opentelemetry/sdk-trace',
];

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
    for (const off of OFF) {
      expect(loaded).not.to.include(off);
      expect(import.meta.resolve(off), 'it would have this name').to.contain(`/node_modules/${off}/`);
    }
    // Node's own fetch.
    expect(loaded).not.to.include('internal/deps/undici/undici');
  });
});
