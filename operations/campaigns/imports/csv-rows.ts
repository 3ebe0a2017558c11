/** Rows of a CSV as contacts, or as what is wrong with them (rule 7); pure. */
import { wrongWith } from '#runtime/gateway/input'
import { readEmail } from '#runtime/schema'
import { parsePhone } from '#runtime/values/phone'
import { customValueAtMost } from '../lists/contact-schema.ts'
import type { CsvLayout } from './csv-columns.ts'
import type { Cell } from './csv-schema.ts'
import type { Entry } from './entries.ts'

const nameAtMost = 120
const emailAtMost = 254
/** What a spreadsheet makes of a long number: 5.51E+12, or 5,51E+12. */
const scientific = /^[+-]?\d+(?:[.,]\d+)?e[+-]?\d+$/i

const textOf = (cell: Cell | undefined): string => (cell == null ? '' : String(cell).trim())
const oneLine = (text: string): string => text.replace(/\s+/g, ' ')

/** What is read of a row; other columns are passed over. */
const fieldsOf = ({ phone, name, email, customFields }: CsvLayout): [field: string, at: number][] => [
  ['phone', phone],
  ...(name === null ? [] : [['name', name] as [string, number]]),
  ...(email === null ? [] : [['email', email] as [string, number]]),
  ...Object.entries(customFields),
]

/** A wholly blank row is no row at all. */
export const isBlank = (cells: readonly Cell[]): boolean => cells.every((cell) => textOf(cell) === '')

/** A row as a contact; `country` is where a phone without a prefix is from. The first fault is told. */
export function entryOf(line: number, cells: readonly Cell[], layout: CsvLayout, country: string): Entry {
  const bad = (reason: string): Entry => ({ line, reason })
  if (cells.length > layout.width) return bad('row: has more cells than columns')
  for (const [field, at] of fieldsOf(layout)) {
    const wrong = wrongWith(textOf(cells[at]))
    if (wrong) return bad(`${field}: ${wrong}`)
  }
  const written = textOf(cells[layout.phone])
  if (written === '') return bad('phone: is missing')
  if (scientific.test(written)) {
    return bad(
      `phone: was turned into a number by the spreadsheet (${written.slice(0, 40)}); format the column as text`,
    )
  }
  const phone = parsePhone(written, country)
  if (!phone) return bad('phone: is not a phone number')
  const name = layout.name === null ? '' : oneLine(textOf(cells[layout.name]))
  if (name.length > nameAtMost) return bad(`name: has more than ${nameAtMost} characters`)
  const address = layout.email === null ? '' : textOf(cells[layout.email])
  if (address.length > emailAtMost) return bad(`email: has more than ${emailAtMost} characters`)
  const email = address === '' ? null : readEmail(address)
  if (address !== '' && email === null) return bad('email: is not an email address')
  const customFields: Record<string, string> = {}
  for (const [field, at] of Object.entries(layout.customFields)) {
    const value = textOf(cells[at])
    if (value.length > customValueAtMost)
      return bad(`${field}: has more than ${customValueAtMost} characters`)
    if (value !== '') customFields[field] = value
  }
  return { line, phone, name: name || null, email, customFields, platformCustomerId: null }
}
