"use strict";
// A reporter of Jest's, beside those of the project: see node_preload.cjs.
const { Run } = require("./node_report.cjs");

const OUTCOMES = { passed: "PASSED", failed: "FAILED" };

module.exports = class JestReporter {
  onRunStart() {
    this.run = new Run("jest");
  }

  onTestResult(_test, result) {
    for (const { ancestorTitles, title, status } of result.testResults) {
      this.run.test(result.testFilePath, [...ancestorTitles, title], OUTCOMES[status] || "SKIPPED");
    }
    if (result.testExecError) this.run.test(result.testFilePath, ["(file)"], "FAILED");
  }

  onRunComplete(_contexts, results) {
    this.run.end(!results.wasInterrupted && results.testResults.length >= results.numTotalTestSuites);
  }

  getLastError() {}
};
