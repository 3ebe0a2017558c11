/** Which cells of a size guide are converted to the other unit, over headings and spellings of three languages. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Unit } from '#operations/product-page/size-guides/measures'
import { convertCell, convertTables } from '#operations/product-page/size-guides/units'

/** Converts one column under a heading, next to names of sizes. */
function convertColumn(
  heading: string,
  cells: string[],
  from: Unit = 'cm',
): { heading: string; cells: string[] } {
  const rows = cells.map((cell, at) => [`S${at}`, cell])
  const [table] = convertTables([{ title: null, columns: ['Size', heading], rows }], from)
  expect(table!.rows.map(([size]) => size)).toEqual(rows.map(([size]) => size))
  return { heading: table!.columns[1]!, cells: table!.rows.map(([, cell]) => cell!) }
}

const measured = [
  'Bust',
  'Busto',
  'Cintura',
  'Cintura (cm)',
  'Chest',
  'Pecho',
  'Waist size',
  'Comprimento da manga',
  'Largo de manga',
  'Foot length',
  'Altura',
  'Cadera / Hip',
  'Palmilha',
  'Brustumfang',
  'A',
]
const sized = [
  'EU',
  'Size EU',
  'US',
  'us',
  'UK',
  'BR',
  'Tamanho',
  'Tamanho BR',
  'Talla',
  'Talle',
  'Nº',
  'Numeração',
  'Número',
  'Idade',
  'Age',
  'Edad (años)',
  'Anos',
  'Peso',
  'Peso (kg)',
  'Weight (lb)',
  'Shoe size',
  'Calçado',
  'FR',
  'IT',
  'DE',
  'Women',
  'SKU',
  'Preço',
  'Quantity',
  'Size (mm)',
  'Größe',
  'Taille',
  'Chest (cm/in)',
]
const converted: [cell: string, inCm: string, inInches: string][] = [
  ['88', '34.6', '223.5'],
  ['62,5', '24.6', '158.8'],
  ['88-92', '34.6-36.2', '223.5-233.7'],
  ['88 – 92', '34.6 – 36.2', '223.5 – 233.7'],
  ['84/88', '33.1/34.6', '213.4/223.5'],
  ['84 a 88', '33.1 a 34.6', '213.4 a 223.5'],
  ['de 84 até 88', 'de 33.1 até 34.6', 'de 213.4 até 223.5'],
  ['24 1/2', '9.6', '62.2'],
  ['24½', '9.6', '62.2'],
  ['24-1/2', '9.6', '62.2'],
  ['1/2', '0.2', '1.3'],
  ['24 1/2 - 26', '9.6 - 10.2', '62.2 - 66'],
  ['até 10 (P)', 'até 3.9 (P)', 'até 25.4 (P)'],
  ['> 100', '> 39.4', '> 254'],
  ['30 x 40', '11.8 x 15.7', '76.2 x 101.6'],
  ['88 ± 2', '34.6 ± 0.8', '223.5 ± 5.1'],
]
const kept = [
  '2XL',
  'XG',
  '38/M',
  'EU 38',
  '34A',
  '75 B',
  '2X',
  'único',
  '',
  '-',
  'One size',
  'M (38)',
  '1.234,5',
  'W32 L34',
  '3-4 anos',
  '10 kg',
]

describe('a measurement', () => {
  test.each(converted)('%s', (cell, inInches, inCm) => {
    expect([convertCell(cell, 'cm'), convertCell(cell, 'in')]).toEqual([inInches, inCm])
    for (const heading of measured) {
      expect([heading, ...convertColumn(heading, [cell, '90'], 'cm').cells]).toEqual([
        heading,
        inInches,
        '35.4',
      ])
      expect([heading, ...convertColumn(heading, [cell], 'in').cells].slice(0, 1)).toEqual([heading])
    }
  })

  test.each([
    ['88 cm', 'cm', '34.6 in'],
    ['88cm', 'cm', '34.6in'],
    ['84-88 cm.', 'cm', '33.1-34.6 in'],
    ['34"', 'in', '86.4 cm'],
    ['34"-36"', 'in', '86.4 cm-91.4 cm'],
    ['34 in - 36 in', 'in', '86.4 cm - 91.4 cm'],
    ['10 pol', 'in', '25.4 cm'],
    // Written in the other unit already, or in one that is neither.
    ['34"', 'cm', '34"'],
    ['88 cm', 'in', '88 cm'],
    ['245 mm', 'cm', '245 mm'],
    ['88 (35")', 'cm', '88 (35")'],
    ['.75', 'in', '1.9'],
    // Fractions that are not read stay whole.
    ['38 1 / 2', 'in', '38 1 / 2'],
    ['38 1/3', 'in', '38 1/3'],
  ] as const)('%s in a guide in %s is %s', (cell, from, expected) => {
    expect(convertColumn('Chest', [cell], from).cells).toEqual([expected])
  })
})

test.each(sized)('a column of %s stays', (heading) => {
  for (const from of ['cm', 'in'] as const) {
    const cells = ['38', '40', '42', '24 1/2', '6-8']
    expect(convertColumn(heading, cells, from)).toEqual({ heading, cells })
  }
})

test.each(kept)('the cell %j stays in a column of measurements', (cell) => {
  expect(convertColumn('Bust', [cell, '90']).cells).toEqual([cell, '35.4'])
})

test('a column without a telling heading is converted if most of its cells are measurements', () => {
  expect(convertColumn('X', ['88', '90', 'largo']).cells).toEqual(['34.6', '35.4', 'largo'])
  expect(convertColumn('X', ['2XL', 'M', '38']).cells).toEqual(['2XL', 'M', '38'])
})

test('a heading says its unit in both forms, and a first column with one is converted', () => {
  const table = {
    title: 'Kids (cm)',
    columns: ['Altura (cm)', 'Size', 'Cintura cm'],
    rows: [['86-92', '92', '50']],
  }
  expect(convertTables([table], 'cm')).toEqual([
    {
      title: 'Kids (in)',
      columns: ['Altura (in)', 'Size', 'Cintura in'],
      rows: [['33.9-36.2', '92', '19.7']],
    },
  ])
})

test('a table whose columns are sizes is converted by the headings of its rows', () => {
  const table = {
    title: null,
    columns: ['Medida', 'P', 'M', '42', 'EU 44'],
    rows: [
      ['Busto', '84', '88', '92', '96'],
      ['EU', '36', '38', '42', '44'],
      ['Outra', '10', '11', '12', '13'],
    ],
  }
  expect(convertTables([table], 'cm')[0]!.rows).toEqual([
    ['Busto', '33.1', '34.6', '36.2', '37.8'],
    ['EU', '36', '38', '42', '44'],
    ['Outra', '3.9', '4.3', '4.7', '13'],
  ])
})

test('whatever is written, a text without a number and a column of sizes never change', () => {
  const cell = fc.oneof(
    fc.constantFrom(...kept, ...converted.map(([each]) => each)),
    fc.string({ maxLength: 12 }),
  )
  fc.assert(
    fc.property(
      fc.array(cell, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(...sized),
      (cells, heading) => {
        expect(convertColumn(heading, cells).cells).toEqual(cells)
        const plain = cells.map((each) => each.replace(/[\p{N}]/gu, ''))
        expect(convertColumn('Bust', plain).cells).toEqual(plain)
      },
    ),
  )
})

test('Taille is the waist beside other parts of the body, and else a size', () => {
  const convert = (columns: string[]) =>
    convertTables([{ title: null, columns, rows: [['M', '96', '81']] }] as never, 'cm')[0]!.rows[0]
  expect(convert(['Größe', 'Brust', 'Taille'])).toEqual(['M', '37.8', '31.9'])
  expect(convert(['Pays', 'Code', 'Taille'])).toEqual(['M', '96', '81'])
})
