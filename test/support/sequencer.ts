/**
 * Those that take longest begin first, or the last of them would run alone. By name: what vitest remembers of the run
 * before is of either database, and a fresh clone has none.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const longest = [
  'scripts/bench.full',
  'operations/storefront/script/every-element.full',
  'operations/messaging/outbox/lanes',
  'scripts/backup.full',
  'scripts/seed.full',
  'operations/storefront/script/any-shop.full',
  'operations/storefront/script/stories.full',
  'scripts/kill-automations.full',
  'scripts/new-operation.full',
  'operations/sandbox/stories',
  'operations/product-page/video-slider/element.full',
  'registry/shopper-pages-browser.full',
  'scripts/start.full',
  'operations/bars/alerts/element.full',
  'operations/storefront/script/budget',
  'runtime/docs',
  'scripts/kill-export.full',
  'operations/sandbox/parts',
  'operations/automations/waited',
  'operations/storefront/visits/pages-in-browser.full',
  'operations/capture/popup/element.full',
  'registry/references-walk',
  'scripts/cli.full',
  'scripts/kill-exchanges.full',
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
