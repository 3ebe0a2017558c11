/** What people of an import do to a list; pure: no database, no clock. */
import { phoneKey } from '#runtime/values/phone'
import { customFieldsAtMost } from '../lists/contact-schema.ts'

/** Somebody to add. */
interface Person {
  /** Of the file; null where there are no lines. */
  line: number | null
  phone: string
  name: string | null
  email: string | null
  customFields: Record<string, string>
  platformCustomerId: string | null
}

/** How a row without a line is told, of whoever it is. */
export const toldAs = (platformCustomerId: string): string => `(customer ${platformCustomerId})`

/** Or a row that is none, and why. */
interface Fault {
  line: number | null
  reason: string
}
export type Entry = Person | Fault

export interface KnownContact {
  id: string
  phone: string
  phone_key: string
  name: string | null
  email: string | null
  custom_fields: unknown
}

export interface Counts {
  processed: number
  added: number
  updated: number
  unchanged: number
  invalid: number
  excluded: number
}

/** A contact as it will be. */
export interface Written {
  id: string
  phone: string
  phoneKey: string
  name: string | null
  email: string | null
  customFields: Record<string, string>
  platformCustomerId: string | null
}

export interface Outcome {
  counts: Counts
  errors: Fault[]
  /** New and changed contacts. */
  written: Written[]
}

/**
 * Goes through the entries in their order, so that later ones win over earlier ones. `room`: how many more contacts
 * the list takes; `excluded`: match forms of phones that were removed by hand.
 */
export function settle(
  entries: readonly Entry[],
  known: readonly KnownContact[],
  rules: { room: number; excluded: ReadonlySet<string>; updates: boolean; newId(): string },
): Outcome {
  const counts: Counts = { processed: 0, added: 0, updated: 0, unchanged: 0, invalid: 0, excluded: 0 }
  const errors: Fault[] = []
  const written = new Map<string, Written>()
  const present = new Map(known.map((contact) => [contact.phone_key, asWritten(contact)]))
  let { room } = rules
  const refuse = (line: number | null, reason: string): void => {
    counts.invalid += 1
    errors.push({ line, reason })
  }
  for (const entry of entries) {
    counts.processed += 1
    if ('reason' in entry) {
      refuse(entry.line, entry.reason)
      continue
    }
    const key = phoneKey(entry.phone)
    const contact = present.get(key)
    if (!contact) {
      if (rules.excluded.has(key)) counts.excluded += 1
      else if (room === 0) refuse(entry.line, 'list: is full')
      else {
        const { line: _line, ...rest } = entry
        const added = { ...rest, id: rules.newId(), phoneKey: key }
        present.set(key, added)
        written.set(key, added)
        room -= 1
        counts.added += 1
      }
      continue
    }
    const merged = rules.updates ? mergedWith(contact, entry) : contact
    if (Object.keys(merged.customFields).length > customFieldsAtMost) {
      refuse(entry.line, `row: the contact would have more than ${customFieldsAtMost} custom fields`)
    } else if (merged === contact) counts.unchanged += 1
    else {
      counts.updated += 1
      present.set(key, merged)
      written.set(key, merged)
    }
  }
  return { counts, errors, written: [...written.values()] }
}

const asWritten = (contact: KnownContact): Written => ({
  id: contact.id,
  phone: contact.phone,
  phoneKey: contact.phone_key,
  name: contact.name,
  email: contact.email,
  customFields: contact.custom_fields as Record<string, string>,
  platformCustomerId: null,
})

/** What is given replaces, the rest stays; the very same contact when nothing changes. */
function mergedWith(contact: Written, person: Person): Written {
  const name = person.name ?? contact.name
  const email = person.email ?? contact.email
  const fields = Object.entries(person.customFields)
  const isSame =
    name === contact.name &&
    // biome-ignore lint/plugin/contact-spelling: it asks whether a row has to be written: another spelling is
    email === contact.email &&
    fields.every(([field, value]) => contact.customFields[field] === value)
  if (isSame) return contact
  return { ...contact, name, email, customFields: { ...contact.customFields, ...person.customFields } }
}
