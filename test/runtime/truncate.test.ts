/** Long texts are cut between characters: the database's JSON refuses a lone surrogate. */
import { expect, test } from 'vitest'
import { countCharacters, splitGraphemes, splitText, truncate } from '#runtime/values/truncate'

const texts = [
  '',
  'plain',
  '😀',
  'a😀',
  '😀😀😀',
  `a${'😀'.repeat(9)}`,
  'é\u0301 ñ 你好 😀x😀',
  '👨‍👩‍👧 and 🇧🇷🇵🇹',
  'ก็ดี 하늘 क्षमा',
]

test.each(texts)('%j can be cut anywhere, and its pieces join to the whole', (text) => {
  for (let length = 1; length <= text.length + 2; length += 1) {
    const beginning = truncate(text, length)
    const ends = splitGraphemes(text).map((_, at, all) => all.slice(0, at + 1).join(''))
    expect(['', ...ends]).toContain(beginning)
    expect(countCharacters(beginning)).toBe([...beginning].length)
    const next = ends.find((end) => end.length > beginning.length)
    expect(next === undefined || [...next].length > length).toBe(true)
    expect([...beginning].length).toBeLessThanOrEqual(length)
    const pieces = [...splitText(text, length)]
    expect(pieces.join('')).toBe(text)
    expect(pieces.filter((piece) => !piece.isWellFormed() || piece.length > length + 1)).toEqual([])
  }
})

test('truncating counts code points, and cuts marks that are stacked without end', () => {
  expect([truncate('ab😀', 2), truncate('ab😀', 3), truncate('ab', 0)]).toEqual(['ab', 'ab😀', ''])
  expect(truncate(`e${'\u0301'.repeat(500)}`, 100)).toHaveLength(100)
})
