/** Parses rows of a CSV into contacts or row errors (rule 7). No database, no clock. */

import { parseAddress } from '#operations/messaging/index'
import { findTextIssue } from '#runtime/gateway/input'
import { readEmail } from '#runtime/schema'
import { explainPhone } from '#runtime/values/phone'
import { countCharacters } from '#runtime/values/truncate'
import { maxCustomFields, maxCustomValueLength } from '../lists/contact-schema.ts'
import type { CsvLayout } from './csv-columns.ts'
import type { Cell } from './csv-schema.ts'
import type { Entry } from './entries.ts'

const nameAtMost = 120
const emailAtMost = 254

const toText = (cell: Cell | undefined): string => (cell == null ? '' : String(cell).trim())
const toOneLine = (text: string): string => text.replace(/\s+/g, ' ')

type Field = [field: string, at: number]

/** Lists the columns to read, with their positions. Other columns are ignored. */
const listFields = (layout: CsvLayout): Field[] => [
  ...[layout.phone, ...(layout.otherPhones ?? [])].map((at): Field => ['phone', at]),
  ...[layout.name, ...(layout.nameParts ?? [])].flatMap((at): Field[] => (at === null ? [] : [['name', at]])),
  ...(layout.email === null ? [] : [['email', layout.email] as Field]),
  ...Object.entries(layout.customFields),
]

/** Whether a number has more digits than JSON readers keep. A phone has its own message for that. */
const isRounded = (cell: Cell | undefined): boolean =>
  typeof cell === 'number' && Math.abs(cell) > Number.MAX_SAFE_INTEGER

/** Whether a row has no text. An import ignores such rows. */
export const isBlank = (cells: readonly Cell[]): boolean => cells.every((cell) => toText(cell) === '')

/** Google Contacts writes several phones or addresses of one label into one cell. */
const firstValue = (text: string): string => text.split(' ::: ')[0]!.trim()

/** Reads the name, or joins its parts. A part that the others end with already is not repeated. */
function readName(cells: readonly Cell[], { name, nameParts = [] }: CsvLayout): string {
  const whole = name === null ? '' : toOneLine(toText(cells[name]))
  if (whole !== '') return whole
  return nameParts
    .map((at) => toOneLine(toText(cells[at])))
    .reduce((joined, part) => (` ${joined}`.endsWith(` ${part}`) ? joined : `${joined} ${part}`.trim()), '')
}

/** Parses a row into a contact or its first error. `country` is the country of phones without an international prefix. */
export function parseRow(line: number, cells: readonly Cell[], layout: CsvLayout, country: string): Entry {
  const bad = (reason: string): Entry => ({ line, reason })
  if (!isBlank(cells.slice(layout.width))) return bad('row: has more cells than columns')
  for (const [field, at] of listFields(layout)) {
    const issue = findTextIssue(toText(cells[at]))
    if (issue) return bad(`${field}: ${issue}`)
    if (field !== 'phone' && isRounded(cells[at]))
      return bad(`${field}: is a number with too many digits; format the column as text`)
  }
  const written = [layout.phone, ...(layout.otherPhones ?? [])]
    .map((at) => firstValue(toText(cells[at])))
    .filter((text) => text !== '')
  if (written.length === 0) return bad('phone: is missing')
  const phone = written.map((text) => parseAddress(text, country)).find(Boolean)
  if (!phone) return bad(`phone: ${explainPhone(written[0]!)}`)
  const name = readName(cells, layout)
  if (countCharacters(name) > nameAtMost) return bad(`name: has more than ${nameAtMost} characters`)
  const address = layout.email === null ? '' : firstValue(toText(cells[layout.email]))
  if (countCharacters(address) > emailAtMost) return bad(`email: has more than ${emailAtMost} characters`)
  const email = address === '' ? null : readEmail(address)
  if (address !== '' && email === null) return bad('email: is not an email address')
  const customFields: Record<string, string> = {}
  for (const [field, at] of Object.entries(layout.customFields)) {
    const value = toText(cells[at])
    if (countCharacters(value) > maxCustomValueLength)
      return bad(`${field}: has more than ${maxCustomValueLength} characters`)
    if (value !== '') customFields[field] = value
  }
  if (Object.keys(customFields).length > maxCustomFields)
    return bad(`row: has more than ${maxCustomFields} custom fields`)
  return { line, phone, name: name || null, email, customFields, platformCustomerId: null }
}
