/** Every operation is imported by a test of its own section. */
import type { Fault } from '#runtime/registry/checks'
import { readCode, typescriptFiles } from './files.ts'

const imported = /(?:^|\n)import (?!type )[^'"]*?from\s*['"]#(operations\/[^'"]+\/api\/[^'"]+)['"]/g

export async function testedFaults(root: string): Promise<Fault[]> {
  const tests = (await typescriptFiles(root, 'test/operations')).filter((file) => file.endsWith('.test.ts'))
  const tested = new Set(
    tests.flatMap((file) =>
      [...readCode(root, file).matchAll(imported)]
        .map(([, operation]) => `${operation}.ts`)
        .filter((operation) => sectionOf(operation) === sectionOf(file.slice('test/'.length))),
    ),
  )
  const operations = (await typescriptFiles(root, 'operations')).filter((file) => /\/api\/[^/]+$/.test(file))
  return operations
    .filter((file) => !tested.has(file))
    .map((file) => ({
      file,
      wrong: 'is called by no test of its section',
      remedy: `import it in a test below test/operations/${sectionOf(file)}/, and say by shop.call(…) what it does`,
    }))
}

const sectionOf = (file: string): string => file.split('/')[1]!
