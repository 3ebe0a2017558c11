/** `npm run count`: adds up vitest's JSON reports; what `.ci/run` says last. */
import { existsSync, readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { examples, exitWith, newProgram, runProgram } from '#scripts/cli/program'
import { line, type Terminal } from '#scripts/cli/terminal'

interface Report {
  numPassedTests: number
  numFailedTests: number
  numFailedTestSuites: number
}

export const countProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run count --')
    .description(
      "Adds up vitest's JSON reports and prints `N passed, N failed`. Fails where a test failed, none passed, or a " +
        'report is missing.',
    )
    .argument('<reports...>', 'files that vitest wrote with --reporter=json --outputFile=<file>')
    .addHelpText('after', examples(terminal, 'npm run count -- .tmp/pglite.json .tmp/postgresql.json'))
    .action((files: string[]) => {
      const { passed, failed } = countOf(files)
      line(terminal.out, `${passed} passed, ${failed} failed`)
      exitWith(failed > 0 || passed === 0 ? 1 : 0)
    })

function countOf(files: readonly string[]): { passed: number; failed: number } {
  let passed = 0
  let failed = 0
  for (const file of files) {
    if (!existsSync(file)) {
      failed += 1
      continue
    }
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report
    passed += report.numPassedTests
    // A file that could not even be loaded has no failed test of its own.
    failed += Math.max(report.numFailedTests, report.numFailedTestSuites > 0 ? 1 : 0)
  }
  return { passed, failed }
}

if (import.meta.main) process.exitCode = await runProgram(countProgram)
