/** Assigns the columns of a CSV to contact fields (rule 7). */
import { headers } from '#operations/store/index'
import { refuse } from '#runtime/errors'
import { customFieldName, maxCustomFields, reservedFields } from '../lists/contact-schema.ts'
import { contactNames, exportedColumns, personIdColumn, programs, readOnlyColumns } from './csv-names.ts'
import type { Cell, CsvInput } from './csv-schema.ts'

/** The positions of the columns in a row. `width` is the number of columns. */
export interface CsvLayout {
  width: number
  phone: number
  /** Further columns with phones or WhatsApp ids, for rows whose `phone` is blank. */
  otherPhones?: number[]
  name: number | null
  /** First, middle and last names, for rows whose `name` is blank. */
  nameParts?: number[]
  email: number | null
  customFields: Record<string, number>
}

interface Csv extends Pick<CsvInput, 'columns' | 'mapping'> {
  rows?: readonly (readonly Cell[])[]
}

/**
 * Finds the columns' positions. Refuses duplicate column names, a mapping to an unknown column, and a CSV without a
 * phone column. `known`: the custom fields of the list, which columns of the same name fill.
 */
export function resolveLayout(csv: Csv, known: readonly string[] = []): CsvLayout {
  const columns = dropTrailingBlanks(csv.columns)
  const blank = columns.indexOf('')
  if (blank >= 0) throw refuse('bad_request', `columns.${blank}: must not be empty`)
  const twin = columns.find((name, at) => columns.indexOf(name) !== at)
  if (twin !== undefined) throw refuse('bad_request', `columns: "${twin}" is there twice`)
  if (csv.mapping) return layoutFromMapping(columns, csv.mapping)
  return isOwnExport(columns) ? layoutOfOwnExport(columns) : layoutFromNames(columns, csv.rows ?? [], known)
}

const dropTrailingBlanks = (columns: readonly string[]): string[] =>
  columns.slice(0, columns.findLastIndex((name) => name !== '') + 1)

function layoutFromMapping(columns: string[], mapping: NonNullable<CsvInput['mapping']>): CsvLayout {
  const at = (field: string, column: string): number => {
    const position = columns.indexOf(column)
    if (position >= 0) return position
    throw refuse('bad_request', `mapping.${field}: there is no column "${column}" in columns`)
  }
  const { phone, name, email, customFields = {} } = mapping
  return {
    width: columns.length,
    phone: at('phone', phone),
    name: name === undefined ? null : at('name', name),
    email: email === undefined ? null : at('email', email),
    customFields: Object.fromEntries(
      Object.entries(customFields).map(([field, column]) => [field, at(`customFields.${field}`, column)]),
    ),
  }
}

const isOwnExport = (columns: readonly string[]): boolean =>
  exportedColumns.every((name) => columns.includes(name))

function layoutOfOwnExport(columns: string[]): CsvLayout {
  const others = columns.filter(
    (name) => name !== personIdColumn && !(exportedColumns as readonly string[]).includes(name),
  )
  const at = (name: string): number => columns.indexOf(name)
  const customFields: Record<string, number> = {}
  for (const column of others) {
    customFields[parseOwnName(column) ?? pickFieldName(column, at(column), customFields)] = at(column)
  }
  return {
    width: columns.length,
    phone: at('phone'),
    ...(columns.includes(personIdColumn) ? { otherPhones: [at(personIdColumn)] } : {}),
    name: at('name'),
    email: at('email'),
    customFields,
  }
}

/** Returns the custom field that a column is headed by, as our export writes it: `cupom`, or `customFields.source`. */
function parseOwnName(column: string): string | null {
  const { success, data } = customFieldName.safeParse(column.replace(/^customFields\./, ''))
  return success ? data : null
}

function layoutFromNames(
  columns: string[],
  rows: readonly (readonly Cell[])[],
  known: readonly string[],
): CsvLayout {
  const found = headers.findColumns(columns, contactNames)
  const [phone, ...otherPhones] = [...found.phone, ...found.otherPhone]
  if (phone === undefined) {
    const names = contactNames.phone[0].join(', ')
    throw refuse('bad_request', `columns: none is a phone (${names}): say in mapping.phone which one is`)
  }
  const [full = null] = found.name
  const [first, last] = [found.firstName[0], found.lastName[0]]
  // If there is a column `sobrenome`, `nome` is a first name.
  const begins = first ?? (last === undefined ? undefined : (full ?? undefined))
  const name = begins === full ? null : full
  const nameParts = [begins, found.middleName[0], last, found.secondLastName[0]].filter(
    (at) => at !== undefined,
  )
  const [email = null] = found.email
  const { ignored } = headers.findColumns(columns, { ignored: readOnlyColumns })
  const taken = new Set([phone, ...found.otherPhone, full, email, ...nameParts, ...ignored])
  const isTechnical = findTechnicalColumns(columns)
  const open = [...columns.keys()].filter((at) => !taken.has(at))
  let others = open.filter((at) => known.includes(columns[at]!) || !isTechnical(at))
  // Other programs write a column for everything that they could know.
  if (others.length > maxCustomFields && others.length < open.length) {
    others = others.filter((at) => rows.some((cells) => String(cells[at] ?? '').trim() !== ''))
  }
  refuseTooManyFields(others.length)
  const customFields: Record<string, number> = {}
  for (const at of others) {
    const column = columns[at]!
    const own = known.includes(column) || column.startsWith('customFields.') ? parseOwnName(column) : null
    customFields[own ?? pickFieldName(column, at, customFields)] = at
  }
  return {
    width: columns.length,
    phone,
    ...(otherPhones.length > 0 ? { otherPhones } : {}),
    name,
    ...(nameParts.length > 0 ? { nameParts } : {}),
    email,
    customFields,
  }
}

/** Tells which columns the program that wrote the file keeps for itself. */
function findTechnicalColumns(columns: readonly string[]): (at: number) => boolean {
  const folded = columns.map(headers.foldHeader)
  const patterns = programs
    .filter(({ markers }) => markers.some((name) => folded.includes(headers.foldHeader(name))))
    .flatMap(({ technical }) => technical)
  return (at) => patterns.some((pattern) => pattern.test(folded[at]!))
}

function refuseTooManyFields(count: number): void {
  if (count <= maxCustomFields) return
  throw refuse(
    'bad_request',
    `columns: ${count} would become custom fields and a contact has at most ${maxCustomFields}: say in mapping which ones to take`,
  )
}

const stripAccents = (text: string): string => text.normalize('NFKD').replace(/\p{M}+/gu, '')

/**
 * Builds a valid custom field name from a column's name. A name without letters, a reserved or a taken name gets a
 * number.
 */
function pickFieldName(column: string, at: number, taken: Record<string, number>): string {
  const made = camelCase(column)
  const base = /^[A-Za-z]/.test(made) ? made : made === '' ? `column${at + 1}` : `column${made}`
  for (let n = 1; ; n += 1) {
    const suffix = n === 1 ? '' : String(n)
    const name = base.slice(0, 40 - suffix.length) + suffix
    if (!reservedFields.includes(name) && !Object.hasOwn(taken, name)) return name
  }
}

/**
 * Converts `Data de nascimento` to `dataDeNascimento`. Keeps capitals inside a word, unless all words are in capitals.
 */
export function camelCase(text: string): string {
  const words = stripAccents(text).match(/[A-Za-z0-9]+/g) ?? []
  const shouting = words.every((word) => word === word.toUpperCase())
  return words
    .map((word, at) => {
      const rest = shouting ? word.slice(1).toLowerCase() : word.slice(1)
      return (at === 0 ? word[0]!.toLowerCase() : word[0]!.toUpperCase()) + rest
    })
    .join('')
}
