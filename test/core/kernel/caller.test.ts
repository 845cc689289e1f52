import { AssertionError } from 'node:assert';
import { readdir, readFile } from 'node:fs/promises';
import { format, inspect } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { expect } from 'chai';
import { Credential } from '../../../src/core/kernel/caller.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { captureLog } from '../log/captured-log.ts';

const SOURCES = new URL('../../../src/', import.meta.url);
const TOKEN = 'token-of-the-test';
const credential = new Credential(TOKEN);
const caller = { credential, credentialKey: 'k', cacheScope: 'p', requestId: 'r' };

const ALL = { depth: null, showHidden: true };

describe('a credential', () => {
  const views: Record<string, () => unknown> = {
    'String()': () => String(credential),
    'a template': () => `${credential}`,
    concatenation: () => `${`${String(credential)}`}`,
    'JSON.stringify': () => JSON.stringify({ caller, list: [credential] }),
    'util.inspect': () => inspect(caller, ALL),
    'util.inspect without custom inspection': () => inspect(caller, { customInspect: false, ...ALL }),
    'util.format': () => format('%s %o %O %j %d', credential, credential, credential, credential, credential),
    'an enumeration': () => [...Object.entries(credential), ...Reflect.ownKeys(credential)].join(),
    'a structured clone': () => inspect(structuredClone({ credential, copy: { ...credential } }), { showHidden: true }),
    'what a worker is posted': () => inspect(deserialize(serialize({ credential })), { showHidden: true }),
    'a copy of its properties': () =>
      JSON.stringify({ ...credential, ...Object.getOwnPropertyDescriptors(credential) }),
    'a comparison that fails': () => {
      const expected = { credential: 1 };
      const failed = new AssertionError({ actual: credential, expected, operator: 'deepStrictEqual' });
      return `${failed.message} ${inspect(failed, { depth: null })}`;
    },
    'errors that caused each other': () =>
      inspect(new AggregateError([credential], 'x', { cause: new Error('y', { cause: { credential } }) }), ALL),
    'an error that carries it': () => inspect(Object.assign(new Error('failed', { cause: credential }), caller)),
    'a gateway error that it caused': () =>
      inspect(new GatewayError('internal', { cause: Object.assign(new TypeError('x'), { credential }) }), ALL),
  };
  for (const [name, view] of Object.entries(views)) {
    it(`is not shown by ${name}`, () => {
      expect(view()).not.to.contain(TOKEN);
    });
  }

  it('is never shown in the log', () => {
    const { logger, text } = captureLog();
    const error = Object.assign(new Error('failed', { cause: Object.assign(new Error('deeper'), { caller }) }), {
      credential,
    });
    logger.info({ credential, caller, list: [credential] }, `message ${credential}`);
    logger.error(error, 'failed');
    logger.error({ err: error, error }, 'twice');
    expect(text().split('\n')).to.have.length(4);
    expect(text()).to.contain('[credential]').and.not.to.contain(TOKEN);
  });

  it('is revealed only where credentials are made or verified', async () => {
    const files = (await readdir(SOURCES, { recursive: true })).filter((file) => file.endsWith('.ts'));
    const revealing: string[] = [];
    for (const file of files) {
      const source = await readFile(new URL(file, SOURCES), 'utf8');
      if (/(?<!\{@link Credential)\.reveal\b/.test(source)) revealing.push(file);
    }
    expect(revealing).to.include('core/credentials/authorize.ts');
    const homes =
      /^(?:core\/credentials|capabilities\/(?:audit|client-credentials|session-login|shared-cache|token-exchange|verification))\//;
    expect(revealing.filter((file) => !homes.test(file))).to.deep.equal([]);
  });
});
