/** Long texts are cut between characters: the database's JSON refuses a lone surrogate. */
import { expect, test } from 'vitest'
import { splitText, truncate } from '#runtime/values/truncate'

const texts = ['', 'plain', '😀', 'a😀', '😀😀😀', `a${'😀'.repeat(9)}`, 'é\u0301 ñ 你好 😀x😀']

test.each(texts)('%j can be cut anywhere, and its pieces join to the whole', (text) => {
  for (let length = 1; length <= text.length + 2; length += 1) {
    const beginning = truncate(text, length)
    expect([beginning.isWellFormed(), text.startsWith(beginning)]).toEqual([true, true])
    expect(beginning.length).toBeGreaterThanOrEqual(Math.min(text.length, length) - 1)
    expect(beginning.length).toBeLessThanOrEqual(length)
    const pieces = [...splitText(text, length)]
    expect(pieces.join('')).toBe(text)
    expect(pieces.filter((piece) => !piece.isWellFormed() || piece.length > length + 1)).toEqual([])
  }
})

test('truncating removes no more than the split character', () => {
  expect([truncate('ab😀', 3), truncate('ab😀', 4), truncate('a😀b', 3), truncate('ab', 0)]).toEqual([
    'ab',
    'ab😀',
    'a😀',
    '',
  ])
})
