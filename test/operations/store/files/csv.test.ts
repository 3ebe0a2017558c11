import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapeFormula, toCsv } from '#operations/store/files/csv'

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
