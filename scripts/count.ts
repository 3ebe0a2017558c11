/** Adds up vitest's JSON reports: prints `N passed, N failed`, and fails when one is missing or empty. */
import { existsSync, readFileSync } from 'node:fs'

interface Report {
  numPassedTests: number
  numFailedTests: number
  numFailedTestSuites: number
}

let passed = 0
let failed = 0
for (const file of process.argv.slice(2)) {
  if (!existsSync(file)) {
    failed += 1
    continue
  }
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report
  passed += report.numPassedTests
  // A file that could not even be loaded has no failed test of its own.
  failed += Math.max(report.numFailedTests, report.numFailedTestSuites > 0 ? 1 : 0)
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
