/**
 * Finds the cells of a size table that are measurements, so that `units.ts` can convert them (rule 5). A heading with a
 * unit or a part of the body means measurements, one with a word for sizes means sizes. Under any other heading, a column
 * counts if most of its cells look like measurements.
 */
import { foldText } from '#runtime/values/fold'
import type { SizeTable } from './schema.ts'

export type Unit = 'cm' | 'in'

/** Numbers in a cell: with a fraction (`24 1/2`, `24½`), or with decimals. */
export const amounts =
  /(?<![\d/])(?:(?<whole>\d+)[\s-])?(?<fraction>1\/2|[13]\/4|[1357]\/8|(?:[13579]|1[135])\/16)(?![\d/])|(?<before>\d+)?\s?(?<sign>[½¼¾⅓⅔⅛⅜⅝⅞])|\d+(?:[.,]\d+)?|(?<![\d.,])[.,]\d+/g

/** How a unit is written after a number. The word `in` is a unit only at the end or after a number, because it is a preposition too. */
export const unitNames: Readonly<Record<Unit, RegExp>> = {
  cm: /(?<!\p{L})(?:cms?|cent[ií]met\p{L}+)(?!\p{L})\.?/giu,
  in: /["″”]|''|(?<!\p{L})(?:inch|inches|in(?=[^\p{L}]*$)|(?<=\d\s*)in|pol|polegadas?|pulg|pulgadas?)(?!\p{L})\.?/giu,
}
const otherUnits = /(?<!\p{L})(?:mm|ft|kgs?|lbs?|oz)(?!\p{L})|[%€$£]/iu

const split = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/))

const bodyParts =
  split(`arm arms armhole bicep biceps bust calf chest circumference depth diameter foot girth head
  height hem hip hips inseam leg length neck outseam rise shoulder shoulders sleeve sleeves thigh torso underbust waist
  width wrist
  altura antebraco barra braco busto cabeca cava cintura circunferencia comprimento costas coxa diametro entrepernas
  gancho largura manga ombro ombros palmilha panturrilha pe peito perna pescoco profundidade punho quadril torax tronco
  alto ancho brazo cabeza cadera contorno cuello espalda hombro hombros largo muneca muslo pantorrilla pecho pie pierna
  plantilla profundidad sisa tiro
  taille tour poitrine hanches brust huften hufte schulter armel`)
const sizeWords =
  split(`age ages bra code cup fit int international intl kids label men mens model no number numbers
  price qty quantity shoe shoes size sizes sizing sku unisex us usa uk gb eu eur europe br fr jp jpn cn kr au mx weight
  women womens year years month months
  ano anos brasil calcado codigo etiqueta feminino homem idade infantil internacional masculino meses mes modelo mulher
  numero numeros numeracao peso preco quantidade taca tam tamanho tamanhos
  cantidad copa edad femenino hombre mujer ninos numeracion precio talla tallas talle talles zapato
  brazil große grosse maat rozmiar taglia размер`)
/** Country codes that are words too, such as `de`: they mean sizes only if they are the whole heading. */
const countryCodes = split('ar ca ch cl co de es it pe pt')
/** Words and signs that a measurement may have between and around its numbers. */
const connectors =
  split(`- – — − ~ ≈ < > ≤ ≥ = <= >= ± + / x × * † . a ao and any approx aprox about ate between bis ca
  cerca circa de desde e entre from hasta less mais mas max menos min minus more o ou or plus que than to u up und von y`)

type Kind = 'measurement' | 'size' | 'unknown'

const mentions = (text: string, unit: Unit): boolean => text.search(unitNames[unit]) >= 0
const otherUnit = (unit: Unit): Unit => (unit === 'cm' ? 'in' : 'cm')

function classify(heading: string, unit: Unit): Kind {
  // A heading with both units has cells in both: they stay.
  if (mentions(heading, otherUnit(unit)) || otherUnits.test(heading)) return 'size'
  if (mentions(heading, unit)) return 'measurement'
  const words = foldText(heading).match(/[\p{L}]+/gu) ?? []
  if (words.some((word) => bodyParts.has(word))) return 'measurement'
  const isCode = words.length === 1 && countryCodes.has(words[0]!)
  return isCode || words.some((word) => sizeWords.has(word)) ? 'size' : 'unknown'
}

/** A number with one letter that no number follows, such as `34A` or `2X`. */
const hasLetter = /\d\s*\p{L}(?!\p{L})(?!\s*[\d½¼¾])/u

/** A fraction after a number that `amounts` does not read, such as `38 1/3`. */
const hasOtherFraction = (cell: string): boolean =>
  /\d[\s-]+\d+\s*[/⁄]\s*\d/.test(
    cell.replace(amounts, (written, ...found) =>
      (found.at(-1) as Record<string, string | undefined>).fraction ? ' ' : written,
    ),
  )

/** Whether a cell is one measurement or a range of them, in the unit or without one. */
function isMeasurement(cell: string, unit: Unit): boolean {
  if (mentions(cell, otherUnit(unit)) || cell.search(amounts) < 0 || hasLetter.test(cell)) return false
  if (hasOtherFraction(cell)) return false
  const rest = cell
    .replace(unitNames[unit], ' ')
    .replace(amounts, ' ')
    // A note such as `(P)`.
    .replace(/\([^()\d]*\)/g, ' ')
  return (foldText(rest).match(/\p{L}+|[^\p{L}\s]+/gu) ?? []).every((word) => connectors.has(word))
}

const isBlank = (cell: string): boolean => /^[\s.–—-]*$/.test(cell)

/** The French and German word for the waist, which is also the French word for a size. */
const isTaille = (heading: string): boolean => foldText(heading) === 'taille'

/**
 * Classifies each column. `unknown`: the heading says nothing, and most cells look like measurements. The first column has
 * names of sizes, unless its heading says otherwise.
 */
export function findMeasureColumns({ columns, rows }: SizeTable, unit: Unit): Kind[] {
  const hasBodyPart = columns.some((each) => !isTaille(each) && classify(each, unit) === 'measurement')
  return columns.map((heading, at) => {
    const kind = classify(heading, unit)
    if (isTaille(heading) && (at === 0 || !hasBodyPart)) return 'size'
    if (kind !== 'unknown') return kind
    if (at === 0) return 'size'
    const cells = rows.flatMap((row) => (isBlank(row[at]!) ? [] : [row[at]!]))
    const measured = cells.filter((cell) => isMeasurement(cell, unit)).length
    return measured * 2 > cells.length ? 'unknown' : 'size'
  })
}

/** Returns a test for the cells of a table: whether the cell at a row and column is a measurement in the unit. */
export function findMeasurements(table: SizeTable, unit: Unit): (row: number, column: number) => boolean {
  const columns = findMeasureColumns(table, unit)
  // A row's heading may name a measurement in a table whose columns are the sizes.
  const rows = table.rows.map(([heading = '']) => (/\d/.test(heading) ? 'unknown' : classify(heading, unit)))
  return (row, column) => {
    const isMeasured =
      columns[column] === 'measurement' ||
      (column > 0 &&
        (rows[row] === 'measurement' || (columns[column] === 'unknown' && rows[row] === 'unknown')))
    return isMeasured && isMeasurement(table.rows[row]![column]!, unit)
  }
}
