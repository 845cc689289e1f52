import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { MAIN, newFolder, porticoEnvironment, startProcess, writeSettings } from '../../support/process/process.ts';
import { READ_TOOLS, servedFrom, startServing } from '../../support/process/serving.ts';

/** Code with which the process sends itself a signal at the first import of its entry, before that file is loaded. */
const signalAtFirstImport = (signal: NodeJS.Signals) => `
import { registerHooks } from 'node:module';
let isSent = false;
registerHooks({
  resolve(specifier, context, next) {
    const isFirst = !isSent && context.parentURL?.endsWith('/main.ts') && specifier.startsWith('.');
    if (isFirst && !specifier.endsWith('/signals.ts')) {
      isSent = true;
      process.kill(process.pid, '${signal}');
    }
    return next(specifier, context);
  },
});`;

describe('a signal', () => {
  /** Starts `portico`, which gets `signal` as it begins to load. */
  async function start(signal: NodeJS.Signals) {
    const folder = await newFolder();
    const module = join(folder, 'preload.mjs');
    await writeFile(module, signalAtFirstImport(signal));
    const file = await writeSettings(folder, servedFrom('http://127.0.0.1:9'));
    const own = ['--import', pathToFileURL(module).href, MAIN, '--config', file];
    return startProcess(process.execPath, own, { env: porticoEnvironment() });
  }

  it('SIGTERM ends a starting process with exit code 0', async () => {
    const { code, signal, stdout, stderr } = await (await start('SIGTERM')).ended;
    expect({ code, signal, stdout, stderr }).to.deep.equal({ code: 0, signal: null, stdout: '', stderr: '' });
  });

  it('SIGHUP does not end a starting process', async () => {
    const portico = await start('SIGHUP');
    await eventually(() => portico.stdout().includes('"listening"'));
    expect((await portico.stop()).code).to.equal(0);
  });

  it('SIGHUP and SIGUSR2 abort no request, SIGUSR1 opens no inspector, and all are logged', async () => {
    const { promise: waiting, resolve } = Promise.withResolvers<ServerResponse>();
    const upstream = await startHttpUpstream((_request, response) => resolve(response));
    const portico = await startServing(servedFrom(upstream.url, { log: { level: 'debug' } }));
    const reading = portico.ask(READ_TOOLS);
    const response = await waiting;
    for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGHUP', 'SIGUSR1'] as const) {
      const line = signal === 'SIGHUP' ? '"msg":"settings unchanged"' : `"signal":"${signal}","msg":"signal ignored"`;
      const count = () => portico.stdout().split(line).length;
      const before = count();
      portico.child.kill(signal);
      await eventually(() => count() > before);
    }
    response.end('{"tools":[{"id":"a","name":"A"}],"nextPageToken":""}');
    expect((await reading).status).to.equal(200);
    const { code, stderr } = await portico.stop();
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
  });
});
