/**
 * Those that take longest begin first, or the last of them would run alone. By name: what vitest remembers of the run
 * before is of either database, and a fresh clone has none.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const longest = [
  'scripts/bench',
  'operations/storefront/script/every-element',
  'operations/messaging/outbox/lanes',
  'scripts/backup',
  'scripts/seed',
  'operations/storefront/script/any-shop',
  'operations/storefront/script/stories',
  'scripts/kill-automations',
  'scripts/new-operation',
  'operations/sandbox/stories',
  'operations/product-page/video-slider/element',
  'registry/shopper-pages-browser',
  'scripts/start',
  'operations/bars/alerts/element',
  'operations/storefront/script/budget',
  'runtime/docs',
  'scripts/kill-export',
  'operations/sandbox/parts',
  'operations/automations/waited',
  'operations/storefront/visits/pages-in-browser',
  'operations/capture/popup/element',
  'registry/references-walk',
  'scripts/cli',
  'scripts/kill-exchanges',
  'operations/campaigns/sending/pipeline',
].map((name) => {
  const file = `/test/${name}.test.ts`
  if (!existsSync(join(import.meta.dirname, '../..', file)))
    throw new Error(`${file} is gone: take it off this list`)
  return file
})

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = longest.findIndex((name) => moduleId.endsWith(name))
  return place < 0 ? longest.length : place
}

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}
