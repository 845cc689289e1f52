import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { linesIn } from '../../support/process/json-lines.ts';
import { newFolder } from '../../support/process/process.ts';
import { servedFrom, startServing } from '../../support/process/serving.ts';

const SECRET = 'token-that-must-not-be-logged';

describe('an uncaught error', () => {
  it('exits with 1 and one log line without its message, with its type, its causes and its stack', async () => {
    const module = join(await newFolder(), 'uncaught.mjs');
    const statement = `Promise.reject(new TypeError('${SECRET}', { cause: new RangeError('y') }))`;
    await writeFile(module, `process.on('SIGUSR2', () => { ${statement} });`);
    const { NODE_OPTIONS = '' } = process.env;
    const portico = await startServing(servedFrom('http://127.0.0.1:9'), {
      NODE_OPTIONS: `${NODE_OPTIONS} --import ${pathToFileURL(module).href}`,
    });
    await (await portico.ask('/nowhere')).arrayBuffer();
    portico.child.kill('SIGUSR2');
    const { code, signal, stdout, stderr } = await portico.ended;
    expect({ code, signal, stderr }).to.deep.equal({ code: 1, signal: null, stderr: '' });
    const lines = linesIn(stdout);
    expect(lines.map(({ level, msg }) => [level, msg])).to.deep.equal([
      ['info', 'listening'],
      ['info', 'request'],
      ['fatal', 'unhandled error'],
    ]);
    expect(stdout).not.to.contain(SECRET);
    expect(lines[2]).to.deep.include({ error: 'TypeError', causes: ['RangeError'] });
    expect(lines[2].stack).to.match(/^ {4}at .*uncaught\.mjs:1:\d+/);
  });
});
