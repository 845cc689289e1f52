/**
 * The spec reporter of mocha, which also adds one line `passed failed skipped` to the file that the reporter option
 * `totals` names, so that `.ci/run` can count over several runs. A run that breaks off is one failure more.
 */
const { appendFileSync } = require('node:fs');
const { reporters } = require('mocha');

module.exports = class Totals extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    // A mocha that a test starts is part of that test: it counts there, not here.
    delete process.env.MOCHA_OPTIONS;
    let broken = 1;
    // Ahead of the summary, which may throw over what broke off.
    runner.prependOnceListener('end', () => {
      broken = 0;
    });
    process.once('exit', () => {
      const { passes, failures, pending } = this.stats;
      appendFileSync(options.reporterOption.totals, `${passes} ${failures + broken} ${pending}\n`);
    });
  }
};
