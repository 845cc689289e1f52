/** Counts whoever uses something that must not end under them. */
export interface Users {
  enter(): void;
  leave(): void;
  /** The same work, counted while it is under way. */
  during<In extends readonly unknown[], Out>(work: (...given: In) => Promise<Out>): (...given: In) => Promise<Out>;
  /** Resolves once there is none. */
  none(): Promise<void>;
}

export function createUsers(): Users {
  const waiting: (() => void)[] = [];
  let count = 0;

  function enter(): void {
    count += 1;
  }

  function leave(): void {
    count -= 1;
    if (count === 0) for (const resolve of waiting.splice(0)) resolve();
  }

  return {
    enter,
    leave,
    during:
      (work) =>
      async (...given) => {
        enter();
        try {
          return await work(...given);
        } finally {
          leave();
        }
      },
    none: () => new Promise((resolve) => (count === 0 ? resolve() : waiting.push(resolve))),
  };
}
