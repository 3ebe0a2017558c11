/** Slow files start first, so that none of them runs alone at the end: files of the full suite, then by size. */
import { statSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const getWeight = ({ moduleId }: TestSpecification): number =>
  statSync(moduleId).size + (moduleId.endsWith('.full.test.ts') ? 1e9 : 0)

export default class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => getWeight(b) - getWeight(a)))
  }
}
