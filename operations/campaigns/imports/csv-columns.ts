/** Which column of a CSV is what (rule 7). */
import { refuse } from '#runtime/errors'
import { customFieldsAtMost, reservedFields } from '../lists/contact-schema.ts'
import type { CsvInput } from './csv-schema.ts'

/** Positions of the columns, and how many there are. */
export interface CsvLayout {
  width: number
  phone: number
  name: number | null
  email: number | null
  customFields: Record<string, number>
}

const known = {
  phone: ['phone', 'telefone', 'celular', 'whatsapp', 'mobile', 'telefono'],
  name: ['name', 'nome', 'nombre'],
  email: ['email', 'e-mail', 'correo'],
}

/** Refuses columns of the same name, a mapping to a column that is not there, and rows without a phone. */
export function layoutOf({ columns, mapping }: Pick<CsvInput, 'columns' | 'mapping'>): CsvLayout {
  const twin = columns.find((name, at) => columns.indexOf(name) !== at)
  if (twin !== undefined) throw refuse('bad_request', `columns: "${twin}" is there twice`)
  return mapping ? mapped(columns, mapping) : found(columns)
}

function mapped(columns: string[], mapping: NonNullable<CsvInput['mapping']>): CsvLayout {
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

function found(columns: string[]): CsvLayout {
  const plain = columns.map((name) => withoutAccents(name).toLowerCase())
  const find = (names: string[]): number | null => {
    const position = plain.findIndex((name) => names.includes(name))
    return position < 0 ? null : position
  }
  const [phone, name, email] = [find(known.phone), find(known.name), find(known.email)]
  if (phone === null) {
    const names = known.phone.join(', ')
    throw refuse('bad_request', `columns: none is a phone (${names}): say in mapping.phone which one is`)
  }
  const others = columns.flatMap((_name, at) => (at === phone || at === name || at === email ? [] : [at]))
  if (others.length > customFieldsAtMost) {
    throw refuse(
      'bad_request',
      `columns: ${others.length} would become custom fields and a contact has at most ${customFieldsAtMost}: say in mapping which ones to take`,
    )
  }
  const customFields: Record<string, number> = {}
  for (const at of others) customFields[freeName(columns[at]!, at, customFields)] = at
  return { width: columns.length, phone, name, email, customFields }
}

const withoutAccents = (text: string): string => text.normalize('NFKD').replace(/\p{M}+/gu, '')

/** A name that can be a custom field's: what is left without letters, reserved or taken gets a number. */
function freeName(column: string, at: number, taken: Record<string, number>): string {
  const made = camelCase(column)
  const base = /^[A-Za-z]/.test(made) ? made : made === '' ? `column${at + 1}` : `column${made}`
  for (let n = 1; ; n += 1) {
    const suffix = n === 1 ? '' : String(n)
    const name = base.slice(0, 40 - suffix.length) + suffix
    if (!reservedFields.includes(name) && !Object.hasOwn(taken, name)) return name
  }
}

/** `Data de nascimento` → `dataDeNascimento`; a word that has capitals inside keeps them. */
export function camelCase(text: string): string {
  const words = withoutAccents(text).match(/[A-Za-z0-9]+/g) ?? []
  const shouting = words.every((word) => word === word.toUpperCase())
  return words
    .map((word, at) => {
      const rest = shouting ? word.slice(1).toLowerCase() : word.slice(1)
      return (at === 0 ? word[0]!.toLowerCase() : word[0]!.toUpperCase()) + rest
    })
    .join('')
}
