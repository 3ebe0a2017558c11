/** Folding: forms of one text are equal, and the SQL function agrees with the module. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { containsWords, findRepeated, foldText, isSeenAs, toSearchWords } from '#runtime/values/fold'
import { testApp } from '#test/support/app'

const app = await testApp()

test.each([
  ['Ação', 'acao'],
  ['A\u0327c\u0327a\u0303o', 'acao'],
  ['ŁÓDŹ', 'lodz'],
  ['Đỗ Øystein', 'do oystein'],
  ['İSTANBUL ısparta', 'istanbul isparta'],
  ['Straße STRASSE ẞ', 'strasse strasse ss'],
  ['Æther œuvre Þór', 'aether oeuvre thor'],
  ['ＡＢＣ　１２３', 'abc 123'],
  ['zero\u200bwidth so\u00adft', 'zerowidth soft'],
  ['  two \n  spaces ', 'two spaces'],
  ['Ёлка ΟΔΟΣ ὁδός', 'елка οδοσ οδοσ'],
  ['٣٤ ۵', '34 5'],
  ['O’Brien–Smith', "o'brien-smith"],
  ['ガギグ ｶﾞ 하늘', 'ガギグ ガ 하늘'],
  ['कि का', 'कि का'],
  ['ก็ดี', 'ก็ดี'],
])('%j is folded to %j', async (text, folded) => {
  expect(foldText(text)).toBe(folded)
  expect(foldText(foldText(text))).toBe(folded)
  expect(await foldInDatabase([text])).toEqual([folded])
})

const foldInDatabase = async (texts: string[]): Promise<string[]> => {
  const rows = await app.database.query<{ folded: string }>(
    'select fold_text(t) as folded from unnest($1::text[]) with ordinality as u(t, n) order by n',
    [texts],
  )
  return rows.map(({ folded }) => folded)
}

/** Blocks whose characters every supported version of PostgreSQL knows. */
const blocks = [
  [0x20, 0x24f],
  [0x2b0, 0x3ff],
  [0x400, 0x52f],
  [0x531, 0x5ff],
  [0x600, 0x6ff],
  [0x900, 0x97f],
  [0xe00, 0xe7f],
  [0x1e00, 0x1fff],
  [0x2000, 0x206f],
  [0x20a0, 0x214f],
  [0x2460, 0x24ff],
  [0x3000, 0x30ff],
  [0x4e00, 0x4fff],
  [0xac00, 0xadff],
  [0xff00, 0xffef],
  [0x1f300, 0x1f5ff],
] as const

test('the database folds every character like the module', async () => {
  const texts = blocks.flatMap(([from, to]) =>
    Array.from({ length: to - from + 1 }, (_, at) => String.fromCodePoint(from + at))
      .filter((sign) => /\P{Cn}/u.test(sign))
      .flatMap((sign) => [sign, `a ${sign}b`]),
  )
  const folded = await foldInDatabase(texts)
  expect(texts.filter((text, at) => folded[at] !== foldText(text))).toEqual([])
})

test('the database folds any text like the module', async () => {
  const sign = fc.oneof(
    ...blocks.map(([min, max]) =>
      fc
        .integer({ min, max })
        .map((code) => String.fromCodePoint(code))
        .filter((text) => /\P{Cn}/u.test(text)),
    ),
    fc.constantFrom(' ', '  ', '\n', '\u0301', '\u200b', 'ß'),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.array(sign, { maxLength: 12 }).map((signs) => signs.join('')),
        { maxLength: 50 },
      ),
      async (texts) => {
        expect(await foldInDatabase(texts)).toEqual(texts.map(foldText))
      },
    ),
    { numRuns: 20 },
  )
})

test('a search has folded words, the longest first, and an order number loses its #', () => {
  expect(toSearchWords('  #1001  Ana  ana ')).toEqual(['1001', 'ana'])
  expect(toSearchWords('\u0301')).toEqual([])
  expect(toSearchWords('#')).toEqual(['#'])
  expect(containsWords(['Vestido Vermelho', null], toSearchWords('vermélho vest'))).toBe(true)
  expect(containsWords(['红色连衣裙'], toSearchWords('连衣'))).toBe(true)
  expect(containsWords(['anything'], [])).toBe(false)
})

test('texts are repeated if a reader sees no difference', () => {
  expect(findRepeated(['Sim', 'sim', 'Sïm'])).toBe(-1)
  expect(findRepeated(['Sim', 'Não', 'Sim '])).toBe(2)
  expect(findRepeated(['Sim', 'Si\u200bm'])).toBe(1)
  expect(isSeenAs('São  Paulo', 'Sa\u0303o Paulo')).toBe(true)
})
