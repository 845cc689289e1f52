import fc from 'fast-check';
import { RESOURCES } from '../replica.ts';
import { STORED, TTL } from './replica.ts';
import { ANSWERS, type Answer, TOKENS, type World } from './world.ts';

type Command = fc.AsyncCommand<object, World>;

const token = fc.constantFrom(...TOKENS);
/** Each may happen at any time; what must hold is checked after it. */
const command = (name: string, run: (world: World) => void | Promise<void>): Command => ({
  check: () => true,
  async run(_model, world) {
    await run(world);
    await world.step();
  },
  toString: () => name,
});
const pick = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(1, list.length)];

/** Reads, past what is held where `noCache` says so, and has the upstream answer so at once. */
async function readAnswered(
  world: World,
  where: number,
  who: string,
  what: string,
  answer: Answer,
  noCache = false,
): Promise<void> {
  world.answers.set(who, answer);
  world.read(where, who, what, noCache);
  await world.step();
  world.answers.set(who, 'good');
  const asked = world.open.find(
    ({ replica, token, resource }) => replica === where && token === who && resource === what,
  );
  if (asked !== undefined) world.finish(asked);
}

/** What callers, the upstream and time do, where there are so many replicas. */
function always(replicas: number) {
  const replica = fc.nat({ max: replicas - 1 });
  return [
    {
      weight: 5,
      arbitrary: fc
        .tuple(replica, token, fc.constantFrom(...RESOURCES), fc.boolean())
        .map(([where, who, what, noCache]) =>
          command(`${who} reads ${what} at ${where}${noCache ? ', no-cache' : ''}`, (world) =>
            world.read(where, who, what, noCache),
          ),
        ),
    },
    {
      weight: 5,
      arbitrary: fc.nat({ max: 5 }).map((index) =>
        command(`the upstream answers request ${index}`, (world) => {
          const asked = pick(world.open, index);
          if (asked !== undefined) world.finish(asked);
        }),
      ),
    },
    {
      weight: 2,
      arbitrary: fc
        .nat({ max: 5 })
        .map((index) =>
          command(`reader ${index} hangs up`, (world) =>
            pick(world.waiting, index)?.controller.abort(new Error('gone')),
          ),
        ),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(replica, token, fc.constantFrom(...RESOURCES)).map(([where, who, what]) =>
        command(`${who} leaves ${what} alone, and is back before that is noticed`, (world) => {
          for (const { token: other, resource, controller } of world.waiting) {
            if (other === who && resource === what) controller.abort(new Error('gone'));
          }
          world.read(where, who, what, false);
        }),
      ),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom(1, 6, TTL, 299, 360, 3601).map((ms) =>
        command(`${ms} ms pass`, (world) => {
          world.clock += ms;
        }),
      ),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(token, fc.constantFrom(...ANSWERS))
        .map(([who, answer]) => command(`${who} is now: ${answer}`, (world) => void world.answers.set(who, answer))),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(token, fc.constantFrom(3, 100, 1000)).map(([who, ms]) =>
        command(`the token of ${who} has ${ms} ms left`, (world) => {
          if (!world.expiry.has(who)) world.expiry.set(who, world.clock + ms);
        }),
      ),
    },
    // Much of what has something to do with the other, most of all between replicas.
    {
      weight: replicas === 1 ? 2 : 6,
      arbitrary: fc
        .tuple(replica, token, fc.constantFrom(...STORED))
        .map(([where, who, what]) =>
          command(`${who} is shown ${what} at ${where}`, (world) => readAnswered(world, where, who, what, 'good')),
        ),
    },
    {
      weight: replicas === 1 ? 1 : 3,
      arbitrary: fc
        .tuple(replica, token)
        .map(([where, who]) =>
          command(`${who} is denied everything at ${where}`, (world) =>
            readAnswered(world, where, who, 'projects', 'credential_rejected'),
          ),
        ),
    },
    {
      weight: replicas === 1 ? 1 : 3,
      arbitrary: fc
        .tuple(replica, token, fc.constantFrom(...STORED))
        .map(([where, who, what]) =>
          command(`${who} is denied ${what} at ${where}`, (world) =>
            readAnswered(world, where, who, what, 'access_denied', true),
          ),
        ),
    },
  ];
}

export const ofOneReplica: fc.Arbitrary<Command> = fc.oneof(...always(1));

/** What happens between replicas, too. */
export function ofReplicas(replicas: number): fc.Arbitrary<Command> {
  const replica = fc.nat({ max: replicas - 1 });
  return fc.oneof(
    ...always(replicas),
    {
      weight: 1,
      arbitrary: replica.map((where) => command(`${where} is cut off from the store`, (world) => world.cutOff(where))),
    },
    {
      weight: 1,
      arbitrary: replica.map((where) => command(`${where} reaches the store again`, (world) => world.mend(where))),
    },
    {
      weight: 1,
      arbitrary: fc.constant(command('the store is emptied', (world) => world.flush())),
    },
    {
      weight: 1,
      arbitrary: fc.nat({ max: 2000 }).map((index) => command('the store is evil', (world) => world.tamper(index))),
    },
  );
}
