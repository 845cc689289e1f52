/**
 * The spec reporter of mocha, which also adds one line `passed failed skipped` to the file that the reporter option
 * `totals` names, so that `.ci/run` can count over several runs. A run that breaks off is one failure more. What failed
 * goes to the file that `failures` names, so that the end of a long log can tell it once more.
 */
const { appendFileSync } = require('node:fs');
const { reporters } = require('mocha');

// Of one failure: the whole of it stands further up in the log.
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
    // A mocha that a test starts is part of that test: it counts there, not here.
    delete process.env.MOCHA_OPTIONS;
    const { totals, failures: failuresFile } = options.reporterOption;
    let broken = 1;
    runner.on('fail', (test) => {
      appendFileSync(failuresFile, failureText(test));
    });
    // Ahead of the summary, which may throw over what broke off.
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
