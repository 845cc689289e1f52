import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { linesIn } from '../../support/process/json-lines.ts';
import type { Ended } from '../../support/process/process.ts';
import { newFolder, servedFrom, startServing } from '../../support/process/serving.ts';

const SECRET = 'token-that-must-not-be-logged';

/** Uncaught errors, as statements of JavaScript. */
const ERRORS: Readonly<Record<string, string>> = {
  'an exception that cannot be read': `throw Object.defineProperty(new Error('x'), 'stack', { get() { throw new Error('${SECRET}'); } })`,
};

/** Runs a process that serves one request, and then executes the statement. */
async function endBy(statement: string): Promise<Ended> {
  const module = join(await newFolder(), 'uncaught.mjs');
  await writeFile(module, `process.on('SIGUSR2', () => { ${statement} });`);
  const { NODE_OPTIONS = '' } = process.env;
  const portico = await startServing(servedFrom('http://127.0.0.1:9'), {
    NODE_OPTIONS: `${NODE_OPTIONS} --import ${pathToFileURL(module).href}`,
  });
  await (await portico.ask('/nowhere')).arrayBuffer();
  portico.child.kill('SIGUSR2');
  return portico.ended;
}

/** The same: it exits with 1, and one log line without the message of the error. */
async function check(statement: string): Promise<Ended> {
  const ended = await endBy(statement);
  const { code, signal, stdout, stderr } = ended;
  expect({ code, signal, stderr }).to.deep.equal({ code: 1, signal: null, stderr: '' });
  expect(linesIn(stdout).map(({ level, msg }) => [level, msg])).to.deep.equal([
    ['info', 'listening'],
    ['info', 'request'],
    ['fatal', 'unhandled error'],
  ]);
  expect(stdout).not.to.contain(SECRET);
  return ended;
}

describe('an uncaught error', () => {
  for (const [name, statement] of Object.entries(ERRORS)) {
    it(`exits with 1 and one log line without its message: ${name}`, () => check(statement));
  }

  it('is logged with its type, its causes and its stack', async () => {
    const { stdout } = await check(`Promise.reject(new TypeError('${SECRET}', { cause: new RangeError('y') }))`);
    const { error, causes, stack } = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
    expect({ error, causes }).to.deep.equal({ error: 'TypeError', causes: ['RangeError'] });
    expect(stack).to.match(/^ {4}at .*uncaught\.mjs:1:\d+/);
  });
});
