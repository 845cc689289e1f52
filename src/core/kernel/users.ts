/** Counts the users of something that must not be closed while in use. */
export interface Users {
  enter(): void;
  leave(): void;
  /** Runs work that counts as a use. */
  during<In extends readonly unknown[], Out>(work: (...given: In) => Promise<Out>): (...given: In) => Promise<Out>;
  /** Resolves when there are no users. */
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
