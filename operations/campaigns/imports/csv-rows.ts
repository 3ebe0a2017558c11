/** Parses rows of a CSV into contacts or row errors (rule 7). No database, no clock. */
import { findTextIssue } from '#runtime/gateway/input'
import { readEmail } from '#runtime/schema'
import { parsePhone } from '#runtime/values/phone'
import { maxCustomValueLength } from '../lists/contact-schema.ts'
import type { CsvLayout } from './csv-columns.ts'
import type { Cell } from './csv-schema.ts'
import type { Entry } from './entries.ts'

const nameAtMost = 120
const emailAtMost = 254
/** Matches a phone that a spreadsheet has changed to scientific notation, such as 5.51E+12 or 5,51E+12. */
const scientific = /^[+-]?\d+(?:[.,]\d+)?e[+-]?\d+$/i

const toText = (cell: Cell | undefined): string => (cell == null ? '' : String(cell).trim())
const toOneLine = (text: string): string => text.replace(/\s+/g, ' ')

/** Lists the columns to read, with their positions. Other columns are ignored. */
const listFields = ({ phone, name, email, customFields }: CsvLayout): [field: string, at: number][] => [
  ['phone', phone],
  ...(name === null ? [] : [['name', name] as [string, number]]),
  ...(email === null ? [] : [['email', email] as [string, number]]),
  ...Object.entries(customFields),
]

/** Whether a row has no text. An import ignores such rows. */
export const isBlank = (cells: readonly Cell[]): boolean => cells.every((cell) => toText(cell) === '')

/** Parses a row into a contact or its first error. `country` is the country of phones without an international prefix. */
export function parseRow(line: number, cells: readonly Cell[], layout: CsvLayout, country: string): Entry {
  const bad = (reason: string): Entry => ({ line, reason })
  if (cells.length > layout.width) return bad('row: has more cells than columns')
  for (const [field, at] of listFields(layout)) {
    const issue = findTextIssue(toText(cells[at]))
    if (issue) return bad(`${field}: ${issue}`)
  }
  const written = toText(cells[layout.phone])
  if (written === '') return bad('phone: is missing')
  if (scientific.test(written)) {
    return bad(
      `phone: was turned into a number by the spreadsheet (${written.slice(0, 40)}); format the column as text`,
    )
  }
  const phone = parsePhone(written, country)
  if (!phone) return bad('phone: is not a phone number')
  const name = layout.name === null ? '' : toOneLine(toText(cells[layout.name]))
  if (name.length > nameAtMost) return bad(`name: has more than ${nameAtMost} characters`)
  const address = layout.email === null ? '' : toText(cells[layout.email])
  if (address.length > emailAtMost) return bad(`email: has more than ${emailAtMost} characters`)
  const email = address === '' ? null : readEmail(address)
  if (address !== '' && email === null) return bad('email: is not an email address')
  const customFields: Record<string, string> = {}
  for (const [field, at] of Object.entries(layout.customFields)) {
    const value = toText(cells[at])
    if (value.length > maxCustomValueLength)
      return bad(`${field}: has more than ${maxCustomValueLength} characters`)
    if (value !== '') customFields[field] = value
  }
  return { line, phone, name: name || null, email, customFields, platformCustomerId: null }
}
