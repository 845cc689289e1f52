/** Discrete events: time passes from one to the next, however long that is. */
export interface Schedule {
  /** Milliseconds since the start. */
  readonly now: number;
  /** Has `run` called so many milliseconds from now. */
  after(ms: number, run: () => void): void;
  /** Lets time pass until then, with all that happens meanwhile. */
  until(end: number): void;
}

/** A binary heap by time: a simulation has thousands of events ahead of it at any time, and millions in all. */
export function createSchedule(): Schedule {
  const times: number[] = [];
  const runs: (() => void)[] = [];
  let now = 0;

  function put(index: number, time: number, run: () => void): void {
    times[index] = time;
    runs[index] = run;
  }

  const timeAt = (index: number) => times[index] ?? Number.POSITIVE_INFINITY;
  const runAt = (index: number) => runs[index] ?? nothing;

  function rise(from: number, time: number, run: () => void): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (timeAt(parent) <= time) break;
      put(index, timeAt(parent), runAt(parent));
      index = parent;
    }
    put(index, time, run);
  }

  function sink(time: number, run: () => void): void {
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const child = timeAt(left + 1) < timeAt(left) ? left + 1 : left;
      if (timeAt(child) >= time) break;
      put(index, timeAt(child), runAt(child));
      index = child;
    }
    put(index, time, run);
  }

  function takeFirst(): () => void {
    const first = runAt(0);
    now = timeAt(0);
    const [time, run] = [times.pop() ?? now, runs.pop() ?? nothing];
    if (times.length > 0) sink(time, run);
    return first;
  }

  return {
    get now() {
      return now;
    },
    after(ms, run) {
      rise(times.length, now + ms, run);
    },
    until(end) {
      while (timeAt(0) < end) takeFirst()();
      now = end;
    },
  };
}

function nothing(): void {}
