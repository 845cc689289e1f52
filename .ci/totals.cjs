/**
 * The spec reporter of mocha, which also appends one line `passed failed skipped` to the file of the reporter option
 * `totals`, so that `.ci/run` can add up several runs. A run that breaks off counts as one more failure. Failures are
 * appended to the file of the option `failures`, so that the end of a long log can repeat them.
 */
const { appendFileSync } = require('node:fs');
const { reporters } = require('mocha');

// Of one failure: the log above has all of it.
const maxLines = 15;
const maxLineLength = 300;

const failureText = (test) => {
  const error = test.err ?? {};
  const lines = (error.stack || String(error.message)).split('\n').slice(0, maxLines);
  return `${test.fullTitle()}\n${lines.map((line) => `    ${line.slice(0, maxLineLength)}\n`).join('')}`;
};

module.exports = class Totals extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    // A mocha that a test starts counts as part of that test.
    delete process.env.MOCHA_OPTIONS;
    const { totals, failures: failuresFile } = options.reporterOption;
    let broken = 1;
    runner.on('fail', (test) => {
      appendFileSync(failuresFile, failureText(test));
    });
    // Before the summary, which may throw when a run broke off.
    runner.prependOnceListener('end', () => {
      broken = 0;
    });
    process.once('exit', () => {
      const { passes, failures, pending } = this.stats;
      if (broken) appendFileSync(failuresFile, 'mocha broke off\n');
      appendFileSync(totals, `${passes} ${failures + broken} ${pending}\n`);
    });
  }
};
