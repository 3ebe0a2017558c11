/** Which stores are remembered as small. */
import { expect, test } from 'vitest'
import { StoresWithFew } from '#runtime/database/few'

test('who had few rows is remembered, until they have more or nobody counted', () => {
  const stores = new StoresWithFew(10)
  stores.remember('a', 10)
  expect(stores.has('a')).toBe(true)
  for (const rows of [11, null]) {
    stores.remember('a', 3)
    stores.remember('a', rows)
    expect(stores.has('a')).toBe(false)
  }
})

test('where there is no room for another, who was asked for longest ago is forgotten', () => {
  const stores = new StoresWithFew(10, 3)
  for (const id of ['a', 'b', 'c', 'a', 'd']) stores.remember(id, 1)
  expect(['a', 'b', 'c', 'd'].filter((id) => stores.has(id))).toEqual(['a', 'c', 'd'])
})
