/** Ends something that a test has started. */
type End = () => unknown;

/** What has been started and has not ended, oldest first. */
const running = new Set<End>();
let runningBefore: ReadonlySet<End> = new Set();

/**
 * Has `end` called after the test in which this is called, however that test ends. What a suite starts in a `before` hook
 * is ended when all tests of the run are through (with `--parallel`: all tests of the file), unless the suite itself does
 * it. Gives a function to call when it has ended otherwise.
 */
export function onCleanup(end: End): () => void {
  running.add(end);
  return () => {
    running.delete(end);
  };
}

/** The last that was started ends first. One that cannot be ended keeps none of the others. */
async function endAll(ends: Iterable<End>): Promise<void> {
  const errors: unknown[] = [];
  for (const end of [...ends].reverse()) {
    running.delete(end);
    try {
      await end();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, 'what a test has started could not be ended');
}

/** mocha loads this file before any test (.mocharc.json) and runs these hooks around the hooks of all suites. */
export const mochaHooks = {
  beforeEach() {
    runningBefore = new Set(running);
  },
  afterEach: () => endAll([...running].filter((end) => !runningBefore.has(end))),
  afterAll: () => endAll(running),
};

/**
 * With `--parallel`, mocha waits for good for a worker that died between two files; nothing else is left to wait for then,
 * and the run would end with 0. mocha sets the code itself where it comes to its end.
 */
export function mochaGlobalSetup(): void {
  process.exitCode = 1;
}
