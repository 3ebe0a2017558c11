import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapeFormula, readCell, toCsv } from '#operations/store/files/csv'

const cell = fc.string({
  unit: fc.constantFrom('a', 'ß', '😀', ' ', '"', ',', ';', '\t', '\r', '\n', "'", '='),
})

test('every cell reads back as it was written, whatever line ends it has', () => {
  const tables = fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(tables, (rows) => {
      const text = toCsv(rows, 'UTC')
      for (const recordDelimiter of [['\r\n'], ['\r\n', '\n'], ['\n', '\r\n', '\r']]) {
        const read = parse(text, { record_delimiter: recordDelimiter })
        expect(read).toEqual(rows.map((row) => row.map(escapeFormula)))
      }
    }),
  )
})

test('an imported cell is what was exported, with and without the form for Excel', () => {
  fc.assert(
    fc.property(fc.oneof(cell, fc.stringMatching(/^'?[+0]?[0-9]{1,15}$/)), fc.boolean(), (text, forExcel) => {
      const [[written]] = parse(toCsv([[text, 'x']], 'UTC', { forExcel })) as [[string]]
      expect(readCell(written)).toBe(text)
    }),
  )
  for (const [text, read] of [
    ["'+1415", '+1415'],
    ["'=1", '=1'],
    ["'tis", "'tis"],
    ['="007"', '007'],
    ['="a""b"', 'a"b'],
    ['=1', '=1'],
  ] as const) {
    expect(readCell(text)).toBe(read)
  }
  expect(toCsv([['+5511988887777', '007', '1001', '123456789012', 12]], 'UTC', { forExcel: true })).toBe(
    '"=""+5511988887777""","=""007""",1001,"=""123456789012""",12\r\n',
  )
})
