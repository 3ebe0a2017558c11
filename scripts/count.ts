/** `npm run count`: sums up vitest's JSON reports, at the end of `.ci/run`. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, relative } from 'node:path'
import type { Command } from 'commander'
import { examples, exitWith, newProgram, runProgram } from '#scripts/cli/program'
import { printLine, type Terminal } from '#scripts/cli/terminal'

interface Report {
  numPassedTests: number
  numFailedTests: number
  numFailedTestSuites: number
  testResults: {
    name: string
    status: string
    message?: string
    assertionResults: { status: string; fullName: string; failureMessages?: string[] | null }[]
  }[]
}

export const countProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run count --')
    .description(
      "Adds up vitest's JSON reports: names what failed and how, then prints `N passed, N failed`. Fails if a test " +
        'failed, none passed, or a report is missing.',
    )
    .argument('<reports...>', 'files that vitest wrote with --reporter=json --outputFile=<file>')
    .addHelpText('after', examples(terminal, 'npm run count -- .tmp/pglite.json .tmp/postgresql.json'))
    .action((files: string[]) => {
      const { passed, failed, faults } = countResults(files)
      for (const fault of faults) printLine(terminal.out, fault)
      printLine(terminal.out, `${passed} passed, ${failed} failed`)
      exitWith(failed > 0 || passed === 0 ? 1 : 0)
    })

/** Sums up the reports. `faults`: the failures, which are printed last so that truncated output still has them. */
function countResults(files: readonly string[]): { passed: number; failed: number; faults: string[] } {
  let passed = 0
  let failed = 0
  const faults: string[] = []
  for (const file of files) {
    if (!existsSync(file)) {
      failed += 1
      faults.push(`no report ${file}`)
      continue
    }
    const report = readReport(file)
    if (!report) {
      failed += 1
      faults.push(`${file} is no report of vitest`)
      continue
    }
    passed += report.numPassedTests
    // A test file that fails to load counts as a failure, although none of its tests failed.
    failed += Math.max(report.numFailedTests, report.numFailedTestSuites > 0 ? 1 : 0)
    for (const { name, status, message, assertionResults } of report.testResults) {
      if (status !== 'failed') continue
      const of = `${basename(file, '.json')}: ${relative(process.cwd(), name)}`
      const tests = assertionResults.filter((each) => each.status === 'failed')
      if (tests.length === 0) faults.push(`failed ${of}\n${firstLines(message)}`)
      for (const { fullName, failureMessages } of tests)
        faults.push(`failed ${of} > ${fullName}\n${firstLines(failureMessages?.join('\n'))}`)
    }
  }
  return { passed, failed, faults }
}

function readReport(file: string): Report | null {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report | null
    return report && Array.isArray(report.testResults) ? report : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

const firstLines = (message = ''): string =>
  message
    .split('\n')
    .slice(0, 12)
    .map((each) => `  ${each.slice(0, 2000)}`)
    .join('\n')

if (import.meta.main) process.exitCode = await runProgram(countProgram)
