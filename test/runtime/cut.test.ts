/** Long texts are cut between characters: half of one is refused by the database's JSON, and read by nobody. */
import { expect, test } from 'vitest'
import { cut, piecesOf } from '#runtime/values/cut'

const texts = ['', 'plain', '😀', 'a😀', '😀😀😀', `a${'😀'.repeat(9)}`, 'é\u0301 ñ 你好 😀x😀']

test.each(texts)('%j is cut wherever one likes, and is whole again of its pieces', (text) => {
  for (let length = 1; length <= text.length + 2; length += 1) {
    const beginning = cut(text, length)
    expect([beginning.isWellFormed(), text.startsWith(beginning)]).toEqual([true, true])
    expect(beginning.length).toBeGreaterThanOrEqual(Math.min(text.length, length) - 1)
    expect(beginning.length).toBeLessThanOrEqual(length)
    const pieces = [...piecesOf(text, length)]
    expect(pieces.join('')).toBe(text)
    expect(pieces.filter((piece) => !piece.isWellFormed() || piece.length > length + 1)).toEqual([])
  }
})

test('no more is taken away than the half', () => {
  expect([cut('ab😀', 3), cut('ab😀', 4), cut('a😀b', 3), cut('ab', 0)]).toEqual(['ab', 'ab😀', 'a😀', ''])
})
