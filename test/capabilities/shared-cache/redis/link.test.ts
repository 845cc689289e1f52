import { mock } from 'node:test';
import { expect } from 'chai';
import { createLink, type LinkOptions } from '../../../../src/capabilities/shared-cache/redis/link.ts';
import { RELEASE } from '../../../../src/capabilities/shared-cache/redis/scripts.ts';
import { settle } from '../../../core/reads/snapshots/departures.ts';

const CALL = { script: RELEASE, keys: ['lease'], args: ['token'] };

/** A link over a client that answers what a test says: its word stands in place of `word`. */
function scene(options: Partial<LinkOptions> = {}) {
  const sent: string[] = [];
  const lost: string[] = [];
  const it = { reply: ['word', 'ok', 'more'] as unknown, closed: 0 };
  const link = createLink(
    {
      async send(_key, [command = '', , , , word]) {
        sent.push(String(command));
        const { reply } = it;
        if (typeof reply === 'function') return reply(command);
        if (reply instanceof Error) throw reply;
        return Array.isArray(reply) ? reply.map((each) => (each === 'word' ? word : each)) : reply;
      },
      destroy() {
        it.closed += 1;
      },
    },
    {
      ...{ timeoutMs: 100, stallMs: 500, maxInFlight: 100, maxInFlightBytes: 10_000 },
      onLost: (why) => lost.push(why),
      ...options,
    },
  );
  return Object.assign(it, { link, sent, lost });
}

describe('a link', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('gives what a script says behind its word, and lets go of its time', async () => {
    const { link, lost } = scene();
    expect(await link.ask(CALL)).to.deep.equal({ said: 'ok', more: ['more'] });
    for (let times = 0; times < 3; times += 1) mock.timers.tick(1_000_000);
    expect(lost).to.deep.equal([]);
  });

  for (const [what, reply, why] of [
    ['another word', ['other', 'ok'], ['out_of_step']],
    ['no list', 5, ['out_of_step']],
    ['that it is a replica', ['word', 'replica'], ['replica']],
    ['something else', ['word', 'what'], []],
    ['nothing behind its word', ['word'], []],
  ] as const) {
    it(`takes nothing from a reply that says ${what}`, async () => {
      const it = scene();
      it.reply = reply;
      expect(await it.link.ask(CALL)).to.deep.equal({ said: 'failed' });
      expect([it.lost, it.closed]).to.deep.equal([why, why.length]);
    });
  }

  for (const [message, answer] of [
    ['ERR it says: secret', { said: 'failed', code: 'ERR' }],
    ['NOPERM user has no permissions', { said: 'failed', code: 'NOPERM' }],
    ['Socket closed unexpectedly', { said: 'failed', code: 'closed' }],
    ['SECRETSECRETSECRETSECRETSECRET', { said: 'failed', code: 'closed' }],
    ['OOM command not allowed', { said: 'refused_by_store', code: 'OOM' }],
    ['WRONGTYPE Operation against', { said: 'refused_by_store', code: 'WRONGTYPE' }],
  ] as const) {
    it(`sends once what fails, and tells no more than the code: ${message}`, async () => {
      const it = scene();
      it.reply = new Error(message);
      expect(await it.link.ask(CALL)).to.deep.equal(answer);
      expect([it.sent, it.lost]).to.deep.equal([['EVALSHA'], []]);
    });
  }

  it('sends the script itself where Redis does not know it', async () => {
    const it = scene();
    it.reply = async (command: string) => {
      if (command === 'EVALSHA') throw new Error('NOSCRIPT No matching script');
      return ['1', 'ok'];
    };
    expect(await it.link.ask(CALL)).to.include({ said: 'ok' });
    expect(it.sent).to.deep.equal(['EVALSHA', 'EVAL']);
  });

  it('has so many under way at most, also those that nobody waits for any more, and then others', async () => {
    const it = scene({ maxInFlight: 2 });
    const { promise, reject } = Promise.withResolvers<unknown>();
    it.reply = () => promise;
    const asked = [it.link.ask(CALL), it.link.ask(CALL)];
    mock.timers.tick(100);
    expect(await Promise.all(asked)).to.deep.equal([{ said: 'timeout' }, { said: 'timeout' }]);
    expect(await it.link.ask(CALL)).to.deep.equal({ said: 'unavailable' });
    reject(new Error('ERR'));
    await settle();
    it.reply = new Error('ERR');
    for (let times = 0; times < 5; times += 1) expect(await it.link.ask(CALL)).to.include({ said: 'failed' });
  });

  it('has so many bytes under way at most, of keys and of what else is said, and then others', async () => {
    for (const part of ['keys', 'args'] as const) {
      const it = scene({ maxInFlightBytes: 1000 });
      const large = { ...CALL, [part]: ['x'.repeat(600)] };
      const { promise, resolve } = Promise.withResolvers<unknown>();
      it.reply = () => promise;
      const first = it.link.ask(large);
      expect(await it.link.ask(large)).to.deep.equal({ said: 'unavailable' });
      resolve(5);
      await first;
      expect(it.sent).to.have.length(1);
      const other = scene({ maxInFlightBytes: 1000 });
      other.reply = new Error('ERR');
      for (let times = 0; times < 5; times += 1) expect(await other.link.ask(large)).to.include({ said: 'failed' });
    }
  });

  it('is lost once where nothing is said for long, and asked nothing any more', async () => {
    const it = scene();
    it.reply = () => new Promise(() => {});
    const asked = [it.link.ask(CALL), it.link.ask(CALL)];
    mock.timers.tick(100);
    await Promise.all(asked);
    mock.timers.tick(399);
    expect(it.lost).to.deep.equal([]);
    mock.timers.tick(1);
    it.link.lose('closed');
    expect([it.lost, it.closed, it.link.isLost]).to.deep.equal([['stalled'], 1, true]);
    expect(await it.link.ask(CALL)).to.deep.equal({ said: 'unavailable' });
    expect(it.sent).to.have.length(2);
  });
});
