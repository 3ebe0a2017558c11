/** Assigns the columns of a CSV to contact fields (rule 7). */
import { refuse } from '#runtime/errors'
import { maxCustomFields, reservedFields } from '../lists/contact-schema.ts'
import type { CsvInput } from './csv-schema.ts'

/** The positions of the columns in a row. `width` is the number of columns. */
export interface CsvLayout {
  width: number
  phone: number
  name: number | null
  email: number | null
  customFields: Record<string, number>
}

const knownNames = {
  phone: ['phone', 'telefone', 'celular', 'whatsapp', 'mobile', 'telefono'],
  name: ['name', 'nome', 'nombre'],
  email: ['email', 'e-mail', 'correo'],
}

/**
 * Finds the columns' positions. Refuses duplicate column names, a mapping to an unknown column, and a CSV without a
 * phone column.
 */
export function resolveLayout({ columns, mapping }: Pick<CsvInput, 'columns' | 'mapping'>): CsvLayout {
  const twin = columns.find((name, at) => columns.indexOf(name) !== at)
  if (twin !== undefined) throw refuse('bad_request', `columns: "${twin}" is there twice`)
  return mapping ? layoutFromMapping(columns, mapping) : layoutFromNames(columns)
}

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

function layoutFromNames(columns: string[]): CsvLayout {
  const plain = columns.map((name) => stripAccents(name).toLowerCase())
  const find = (names: string[]): number | null => {
    const position = plain.findIndex((name) => names.includes(name))
    return position < 0 ? null : position
  }
  const [phone, name, email] = [find(knownNames.phone), find(knownNames.name), find(knownNames.email)]
  if (phone === null) {
    const names = knownNames.phone.join(', ')
    throw refuse('bad_request', `columns: none is a phone (${names}): say in mapping.phone which one is`)
  }
  const others = columns.flatMap((_name, at) => (at === phone || at === name || at === email ? [] : [at]))
  if (others.length > maxCustomFields) {
    throw refuse(
      'bad_request',
      `columns: ${others.length} would become custom fields and a contact has at most ${maxCustomFields}: say in mapping which ones to take`,
    )
  }
  const customFields: Record<string, number> = {}
  for (const at of others) customFields[pickFieldName(columns[at]!, at, customFields)] = at
  return { width: columns.length, phone, name, email, customFields }
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
