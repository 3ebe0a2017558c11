/** Slow files start first, or the last of them would run alone: files of the full suite, then by size. */
import { statSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const weightOf = ({ moduleId }: TestSpecification): number =>
  statSync(moduleId).size + (moduleId.endsWith('.full.test.ts') ? 1e9 : 0)

export default class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => weightOf(b) - weightOf(a)))
  }
}
