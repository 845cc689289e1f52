import { mock } from 'node:test';
import { expect } from 'chai';
import { createConnection } from '../../../../src/capabilities/shared-cache/redis/connection.ts';
import type { Call } from '../../../../src/capabilities/shared-cache/redis/link.ts';
import { RELEASE } from '../../../../src/capabilities/shared-cache/redis/scripts.ts';
import { settle } from '../../../core/reads/snapshots/departures.ts';
import { storeLog } from '../../../support/fleet/fleet.ts';

const CALL: Call = { script: RELEASE, keys: ['lease'], args: ['token'] };
const LOOK_MS = 250;

type Says = 'ok' | 'nothing' | 'failed' | 'refused';

/** A Redis that does what a test says, and a clock that goes on only when it is told to. */
function scene({ random = 0, maxInFlight = 100 } = {}) {
  const { events, changes } = storeLog();
  const it = { isThere: true, says: 'ok' as Says, isFound: true as boolean | 'unsteady', opened: 0, open: 0, looks: 0 };
  /** Hangs up on whoever is connected. */
  let lose: (error: Error) => void = () => {};
  /** Has what hangs fail. */
  const hanging: (() => void)[] = [];
  const connection = createConnection({
    ...{ timeoutMs: 60_000, maxInFlight, maxInFlightBytes: 1_000_000, events, random: () => random },
    async open(onLost) {
      it.opened += 1;
      if (!it.isThere) throw new Error('ECONNREFUSED');
      it.open += 1;
      lose = onLost;
      return {
        async send(_key, args) {
          const fail = () => new Error('ERR something');
          if (it.says === 'nothing') return new Promise((_, reject) => hanging.push(() => reject(fail())));
          if (it.says === 'failed') throw fail();
          if (it.says === 'refused') throw new Error('OOM command not allowed');
          return [args[4], 'ok'];
        },
        destroy() {
          it.open -= 1;
        },
      };
    },
    async look(ask) {
      it.looks += 1;
      const isThere = (await ask(CALL)).said === 'ok';
      return isThere && it.isFound;
    },
  });
  return Object.assign(it, {
    ...{ connection, changes, hanging },
    hangUp: () => lose(new Error('Socket closed unexpectedly')),
    async ask(times: number, says: Says) {
      it.says = says;
      for (let count = 0; count < times; count += 1) await connection.ask(CALL);
      it.says = 'ok';
    },
    async pass(ms: number) {
      mock.timers.tick(ms);
      for (let turn = 0; turn < 3; turn += 1) await settle();
    },
    async begin() {
      connection.open();
      for (let turn = 0; turn < 3; turn += 1) await settle();
    },
  });
}

describe('the patience with Redis', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  for (const [random, pauses] of [
    [0, [200, 400, 800, 1600, 2000, 2000]],
    [1, [100, 200, 400, 800, 1000, 1000]],
  ] as const) {
    it(`grows from ${pauses[0]} to ${pauses.at(-1)} ms while it is away, and begins anew once it was there for five seconds`, async () => {
      const it = scene({ random });
      it.isThere = false;
      await it.begin();
      for (const [index, pause] of pauses.entries()) {
        await it.pass(pause - 1);
        expect(it.opened, `ahead of ${pause} ms`).to.equal(index + 1);
        if (index === pauses.length - 1) it.isThere = true;
        await it.pass(1);
        expect(it.opened, `after ${pause} ms`).to.equal(index + 2);
      }
      expect(it.changes, 'each once').to.deep.equal(['unreachable', 'up']);
      for (let times = 0; times < 19; times += 1) await it.pass(LOOK_MS);
      it.hangUp();
      await it.pass(pauses[0]);
      expect(it.changes).to.deep.equal(['unreachable', 'up', 'closed', 'up']);
      expect([it.opened, it.open]).to.deep.equal([8, 1]);
      it.connection.close();
    });
  }

  it('grows while it comes and goes, and looks after it at one pace', async () => {
    const it = scene();
    await it.begin();
    for (const pause of [200, 400, 800, 1600, 2000]) {
      for (let times = 0; times < 18; times += 1) await it.pass(LOOK_MS);
      it.hangUp();
      await it.pass(pause - 1);
      expect(it.connection.isUp, `ahead of ${pause} ms`).to.equal(false);
      await it.pass(1);
    }
    expect([it.opened, it.open, it.connection.isUp]).to.deep.equal([6, 1, true]);
    const { looks } = it;
    for (let times = 0; times < 4; times += 1) await it.pass(LOOK_MS);
    expect(it.looks - looks).to.equal(4);
    it.connection.close();
  });

  it('ends where more than every third call fails, and was never longer for many that went well', async () => {
    const it = scene();
    await it.begin();
    await it.ask(100, 'ok');
    for (let times = 0; times < 50; times += 1) {
      await it.ask(2, 'ok');
      await it.ask(1, 'failed');
    }
    await it.ask(100, 'refused');
    await it.ask(4, 'failed');
    expect(it.connection.isUp).to.equal(true);
    await it.ask(1, 'failed');
    expect([it.connection.isUp, it.changes]).to.deep.equal([false, ['up', 'failing']]);
    expect(await it.connection.ask(CALL)).to.deep.equal({ said: 'unavailable' });
    it.connection.close();
  });

  it('is no longer for what was not sent', async () => {
    const it = scene({ maxInFlight: 1 });
    await it.begin();
    await it.ask(4, 'failed');
    it.says = 'nothing';
    const hanging = it.connection.ask(CALL);
    for (let times = 0; times < 20; times += 1) {
      expect(await it.connection.ask(CALL)).to.deep.equal({ said: 'unavailable' });
    }
    for (const fail of it.hanging) fail();
    await hanging;
    expect(it.connection.isUp).to.equal(false);
    it.connection.close();
  });

  it('is looked for at growing pauses while it fails, over the same connection', async () => {
    const it = scene();
    await it.begin();
    await it.ask(5, 'failed');
    it.says = 'failed';
    const { looks } = it;
    for (const [index, pause] of [200, 400, 800, 1600].entries()) {
      await it.pass(pause - 1);
      expect(it.looks - looks, `ahead of ${pause} ms`).to.equal(index);
      await it.pass(1);
      expect(it.looks - looks, `after ${pause} ms`).to.equal(index + 1);
    }
    it.says = 'ok';
    await it.pass(2000);
    expect([it.changes, it.opened]).to.deep.equal([['up', 'failing', 'up'], 1]);
    it.connection.close();
  });

  it('outlasts one look that finds nothing, unless it was not there yet', async () => {
    const it = scene();
    await it.begin();
    it.isFound = false;
    await it.pass(LOOK_MS);
    expect([it.connection.isUp, it.looks]).to.deep.equal([true, 2]);
    it.isFound = true;
    await it.pass(LOOK_MS);
    expect([it.looks, it.changes]).to.deep.equal([3, ['up']]);
    for (let times = 0; times < 40; times += 1) {
      it.isFound = !it.isFound;
      await it.pass(LOOK_MS);
    }
    expect(it.changes, 'every other one').to.deep.equal(['up']);
    it.connection.close();
    const other = scene();
    other.isFound = false;
    await other.begin();
    expect(other.changes).to.deep.equal(['failing']);
    other.connection.close();
  });

  it('ends at once where it was there, and is nothing to go by', async () => {
    const it = scene();
    await it.begin();
    it.isFound = 'unsteady';
    await it.pass(LOOK_MS);
    expect(it.changes).to.deep.equal(['up', 'unsteady']);
    it.isFound = true;
    await it.pass(2000);
    expect([it.changes, it.opened]).to.deep.equal([['up', 'unsteady', 'up'], 1]);
    it.connection.close();
  });

  it('is over once it is closed: nothing is opened, looked after or told any more', async () => {
    const [up, away] = [scene(), scene()];
    away.isThere = false;
    await up.begin();
    await away.begin();
    for (const it of [up, away]) {
      const { opened, looks, changes } = it;
      const told = [...changes];
      it.connection.close();
      await it.pass(10_000);
      expect([it.opened, it.open, it.looks, it.changes]).to.deep.equal([opened, 0, looks, told]);
      expect(it.connection.isUp).to.equal(false);
    }
  });

  it('leaves no connection open that came once it was closed', async () => {
    const it = scene();
    it.connection.open();
    it.connection.close();
    await it.pass(0);
    expect([it.opened, it.open, it.changes]).to.deep.equal([1, 0, []]);
  });
});
