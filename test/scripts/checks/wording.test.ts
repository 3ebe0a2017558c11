import { expect, test } from 'vitest'
import { checkWording } from '#scripts/checks/wording'

const find = (code: string, file = 'runtime/a.ts') =>
  checkWording(file, code).map(({ line, why }) => `${line} ${why}`)

test('a sentence of a comment that begins with a stand-in for a noun is refused', () => {
  expect(
    find(`/** Reads a list. Whoever reads it waits. */
const a = 1 // What it is.
/**
 * Counts rows.
 * Of each store one.
 */
// Where it fails,
// nothing is written.`),
  ).toEqual([
    '1 a sentence begins with "Whoever"',
    '2 a sentence begins with "What"',
    '3 a sentence begins with "Of"',
    '7 a sentence begins with "Where"',
  ])
})

test('literary words are refused, also within a sentence that goes over two lines', () => {
  expect(find('// The transaction begins\n// anew.')).toEqual(['1 "anew"'])
  expect(find('// Two jobs wait for each other.')).toEqual(['1 "wait for each other"'])
})

test('a private word in a name is refused, in a declaration and in the name of a file', () => {
  expect(find('export function findFate() {}')).toEqual(['1 "fate" in a name'])
  expect(find('', 'operations/one/door.ts')).toEqual(['1 "door" in a name'])
})

test("a test's title that begins with a stand-in for a noun is refused", () => {
  expect(find("test('of a new store nothing is done', () => {})", 'test/a.test.ts')).toEqual([
    `1 a test's title begins with "of"`,
  ])
})

test('plain sentences, questions, strings and links pass', () => {
  expect(
    find(`/** Locks the row, so that two workers cannot claim it. See https://example.com/what-is. */
const text = 'Whoever it is'
// What happens if two workers claim the row?`),
  ).toEqual([])
})
