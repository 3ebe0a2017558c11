/** The end of `.ci/run`: failures, then the count. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { countProgram } from '#scripts/count'
import { run } from '#test/support/command'

const folder = mkdtempSync(join(tmpdir(), 'count-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('failures are named, including a file that could not be loaded and a missing report', async () => {
  const file = join(folder, 'pglite.json')
  const tests = [
    { status: 'passed', fullName: 'adds', failureMessages: [] },
    { status: 'failed', fullName: 'takes away', failureMessages: ['AssertionError: 2 is not 1'] },
  ]
  writeFileSync(
    file,
    JSON.stringify({
      numPassedTests: 1,
      numFailedTests: 1,
      numFailedTestSuites: 2,
      testResults: [
        { name: join(process.cwd(), 'test/a.test.ts'), status: 'failed', assertionResults: tests },
        { name: 'b.test.ts', status: 'failed', message: 'SyntaxError: odd', assertionResults: [] },
      ],
    }),
  )
  const missing = join(folder, 'none.json')
  const { code, out } = await run(countProgram, [file, missing])
  expect(code).toBe(1)
  expect(out.trim().split('\n')).toEqual([
    'failed pglite: test/a.test.ts > takes away',
    '  AssertionError: 2 is not 1',
    'failed pglite: b.test.ts',
    '  SyntaxError: odd',
    `no report ${missing}`,
    '1 passed, 2 failed',
  ])
})
