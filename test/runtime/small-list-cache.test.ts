/** The cache of stores with few rows. */
import { expect, test } from 'vitest'
import { SmallListCache } from '#runtime/database/small-list-cache'

test('a store with few rows is cached until it has more or nobody counted', () => {
  const stores = new SmallListCache(10)
  stores.record('a', 10)
  expect(stores.has('a')).toBe(true)
  for (const rows of [11, null]) {
    stores.record('a', 3)
    stores.record('a', rows)
    expect(stores.has('a')).toBe(false)
  }
})

test('the least recently used store is evicted', () => {
  const stores = new SmallListCache(10, 3)
  for (const id of ['a', 'b', 'c', 'a', 'd']) stores.record(id, 1)
  expect(['a', 'b', 'c', 'd'].filter((id) => stores.has(id))).toEqual(['a', 'c', 'd'])
})
