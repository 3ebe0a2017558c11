/** The checks of files and folders. */
import { describe, expect, test } from 'vitest'
import { findFolderIssues } from '#scripts/checks/folders'
import { findUntestedOperations } from '#scripts/checks/tested'
import { listIssueLines } from '#test/registry/project-trees'

describe('folders', () => {
  const files = (folder: string, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_none, n) => [`${folder}/f${n}.ts`, '']))

  test.each<[folder: string, most: number]>([
    ['operations/one', 10],
    ['operations/one/sending', 20],
    ['runtime/jobs', 20],
  ])('%s holds at most %i files', async (folder, most) => {
    const binding = { 'operations/one/section.ts': '', ...files('operations/one/api', 30) }
    expect(await listIssueLines(findFolderIssues, { ...binding, ...files(folder, most) })).toEqual([])
    expect(await listIssueLines(findFolderIssues, files(folder, most + 1))).toEqual([
      expect.stringMatching(`^${folder} has ${most + 1} files of logic`),
    ])
  })
})

describe('operations', () => {
  const operation = { 'operations/one/tags/api/a.ts': '' }
  const call = "import a from '#operations/one/tags/api/a'\n"

  test('an operation imported by a test of its section passes', async () => {
    expect(
      await listIssueLines(findUntestedOperations, {
        ...operation,
        'test/operations/one/tags/saving.test.ts': call,
      }),
    ).toEqual([])
  })

  test.each<[title: string, files: Record<string, string>]>([
    ['nobody imports', { 'test/operations/one/a.test.ts': '' }],
    ['only a test of another section imports', { 'test/operations/two/b.test.ts': call }],
    ['only a support file imports', { 'test/operations/one/support.ts': call }],
    ['is imported as a type', { 'test/operations/one/a.test.ts': call.replace('import', 'import type') }],
  ])('one that %s is refused', async (_title, files) => {
    expect(await listIssueLines(findUntestedOperations, { ...operation, ...files })).toEqual([
      expect.stringMatching(/^operations\/one\/tags\/api\/a.ts is called by no test of its section/),
    ])
  })
})
