/** Dots while the tests run, and their counts in the file named by COUNTS_FILE for the summary line. */
const { writeFileSync } = require('node:fs');
const { reporters } = require('mocha');

module.exports = class CountingReporter extends reporters.Dot {
  constructor(runner, options) {
    super(runner, options);
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats;
      if (process.env.COUNTS_FILE) {
        writeFileSync(process.env.COUNTS_FILE, JSON.stringify({ passes, failures, pending }));
      }
    });
  }
};
