/** Partial changes. */
import { expect, test } from 'vitest'
import { mergeChange, omitUndefined, toCanonicalJson } from '#runtime/values/changes'

const before = {
  name: 'a' as string | null,
  texts: { title: 'b' as string | null, list: [1, 2] },
  place: null as { city: string | null } | null,
}

test('an absent field keeps its value at every depth, lists are replaced, null is replaced whole', () => {
  expect(mergeChange(before, { name: undefined, texts: { list: [3] } })).toEqual({
    ...before,
    texts: { title: 'b', list: [3] },
  })
  expect(mergeChange(before, { texts: { title: null }, place: { city: 'c' } })).toEqual({
    name: 'a',
    texts: { title: null, list: [1, 2] },
    place: { city: 'c' },
  })
  expect(before.texts).toEqual({ title: 'b', list: [1, 2] })
})

test('an empty text is stored, or becomes null on request', () => {
  const change = { name: '', texts: { title: '' } }
  expect(mergeChange(before, change).texts.title).toBe('')
  expect(mergeChange(before, change, null)).toEqual({
    ...before,
    name: null,
    texts: { title: null, list: [1, 2] },
  })
})

test('omitUndefined drops absent fields; toCanonicalJson ignores the order of keys', () => {
  expect(Object.keys(omitUndefined({ a: undefined, b: null, c: 0 }))).toEqual(['b', 'c'])
  expect(toCanonicalJson({ a: [{ c: 1, b: 2 }], d: null })).toBe(
    toCanonicalJson({ d: null, a: [{ b: 2, c: 1 }] }),
  )
  expect(toCanonicalJson([1, 2])).not.toBe(toCanonicalJson([2, 1]))
})
