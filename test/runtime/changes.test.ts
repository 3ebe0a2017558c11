/** Changes laid over what is kept. */
import { expect, test } from 'vitest'
import { canonical, given, merged } from '#runtime/values/changes'

const before = {
  name: 'a' as string | null,
  texts: { title: 'b' as string | null, list: [1, 2] },
  place: null as { city: string | null } | null,
}

test('what is left out stays at every depth, lists are replaced, what was null is taken whole', () => {
  expect(merged(before, { name: undefined, texts: { list: [3] } })).toEqual({
    ...before,
    texts: { title: 'b', list: [3] },
  })
  expect(merged(before, { texts: { title: null }, place: { city: 'c' } })).toEqual({
    name: 'a',
    texts: { title: null, list: [1, 2] },
    place: { city: 'c' },
  })
  expect(before.texts).toEqual({ title: 'b', list: [1, 2] })
})

test('an empty text is kept, or becomes null where that is asked', () => {
  const change = { name: '', texts: { title: '' } }
  expect(merged(before, change).texts.title).toBe('')
  expect(merged(before, change, null)).toEqual({
    ...before,
    name: null,
    texts: { title: null, list: [1, 2] },
  })
})

test('given leaves out what was left out; canonical does not mind the order of keys', () => {
  expect(Object.keys(given({ a: undefined, b: null, c: 0 }))).toEqual(['b', 'c'])
  expect(canonical({ a: [{ c: 1, b: 2 }], d: null })).toBe(canonical({ d: null, a: [{ b: 2, c: 1 }] }))
  expect(canonical([1, 2])).not.toBe(canonical([2, 1]))
})
