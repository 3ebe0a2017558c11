import { expect, test } from 'vitest'
import { isId, newId } from '#runtime/values/ids'

test('ids of one millisecond, and after the clock was set back, keep the order of creation', () => {
  const late = Date.parse('2027-01-01T00:00:00Z')
  newId(late)
  for (const ms of [late, late - 86_400_000]) {
    const made = Array.from({ length: 20_000 }, () => newId(ms))
    expect(made).toEqual([...made].sort())
    expect(new Set(made).size).toBe(made.length)
    expect(made.every(isId)).toBe(true)
  }
})
