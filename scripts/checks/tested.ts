/** Checks that every operation is imported by a test of its own section. */
import type { Issue } from '#runtime/registry/checks'
import { readCode, typescriptFiles } from './files.ts'

const imported = /(?:^|\n)import (?!type )[^'"]*?from\s*['"]#(operations\/[^'"]+\/api\/[^'"]+)['"]/g

export async function findUntestedOperations(root: string): Promise<Issue[]> {
  const tests = (await typescriptFiles(root, 'test/operations')).filter((file) => file.endsWith('.test.ts'))
  const tested = new Set(
    tests.flatMap((file) =>
      [...readCode(root, file).matchAll(imported)]
        .map(([, operation]) => `${operation}.ts`)
        .filter((operation) => getSection(operation) === getSection(file.slice('test/'.length))),
    ),
  )
  const operations = (await typescriptFiles(root, 'operations')).filter((file) => /\/api\/[^/]+$/.test(file))
  return operations
    .filter((file) => !tested.has(file))
    .map((file) => ({
      file,
      wrong: 'is called by no test of its section',
      remedy: `import it in a test below test/operations/${getSection(file)}/, and say by shop.call(…) what it does`,
    }))
}

const getSection = (file: string): string => file.split('/')[1]!
