/**
 * The spec reporter of mocha, which also adds one line `passed failed skipped` to the file that the reporter option
 * `totals` names, so that `.ci/run` can count over several runs.
 */
const { appendFileSync } = require('node:fs');
const { reporters } = require('mocha');

module.exports = class Totals extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    // A mocha that a test starts is part of that test: it counts there, not here.
    delete process.env.MOCHA_OPTIONS;
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats;
      appendFileSync(options.reporterOption.totals, `${passes} ${failures} ${pending}\n`);
    });
  }
};
