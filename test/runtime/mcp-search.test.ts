/** Questions as merchants ask them: one of the right operations is among the first five. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { nearestIds, OperationSearch } from '#runtime/mcp/search'
import { loadRegistry } from '#runtime/registry/registry'

const questions: [string, string[]][] = JSON.parse(
  readFileSync(new URL('./questions.json', import.meta.url), 'utf8'),
)
const registry = await loadRegistry()
const search = OperationSearch.of(registry)
const all = new Set(registry.operations)
const first = (question: string, count = 5) =>
  search
    .find(question, all)
    .slice(0, count)
    .map(({ id }) => id)

describe('a merchant’s words', () => {
  test('there are at least 60 questions, about operations that exist', () => {
    expect(questions.length).toBeGreaterThanOrEqual(60)
    expect(questions.flatMap(([, ids]) => ids).filter((id) => !registry.byId(id))).toEqual([])
  })

  test.each(questions)('%s', (question, ids) => {
    const found = first(question)
    expect(
      ids.some((id) => found.includes(id)),
      found.join(' '),
    ).toBe(true)
  })

  test('what means nothing finds nothing', () => {
    expect(first('xyzzy plugh')).toEqual([])
    expect(first('the of and')).toEqual([])
  })
})

test('an id that is nearly one names its likes', () => {
  expect(nearestIds(registry, 'get_campaign_list')).toContain('get_campaigns_lists')
  expect(nearestIds(registry, '')).toHaveLength(3)
})
