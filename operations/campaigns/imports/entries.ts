/** Merges imported people into a list's contacts. No database, no clock. */
import { phoneKey } from '#runtime/values/phone'
import { maxCustomFields } from '../lists/contact-schema.ts'

/** A person to add to the list. */
interface Person {
  /** The person's line in the imported file; null if the source is not a file. */
  line: number | null
  phone: string
  name: string | null
  email: string | null
  customFields: Record<string, string>
  platformCustomerId: string | null
}

/** Names the customer in the error of a row that has no line number. */
export const formatCustomer = (platformCustomerId: string): string => `(customer ${platformCustomerId})`

/** A row that cannot be imported, and why. */
interface RowError {
  line: number | null
  reason: string
}
export type Entry = Person | RowError

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

/** A contact as it will be written. */
export interface ContactRecord {
  id: string
  phone: string
  phoneKey: string
  name: string | null
  email: string | null
  customFields: Record<string, string>
  platformCustomerId: string | null
}

export interface MergeResult {
  counts: Counts
  errors: RowError[]
  /** New and changed contacts. */
  written: ContactRecord[]
}

/**
 * Merges the entries in order: of several with the same phone, the last one wins. `room` is how many more contacts the
 * list can hold. `excluded` has the phones that a member removed from the list, in their form for comparisons
 * (`phone_key`).
 */
export function mergeEntries(
  entries: readonly Entry[],
  known: readonly KnownContact[],
  rules: { room: number; excluded: ReadonlySet<string>; updates: boolean; newId(): string },
): MergeResult {
  const counts: Counts = { processed: 0, added: 0, updated: 0, unchanged: 0, invalid: 0, excluded: 0 }
  const errors: RowError[] = []
  const written = new Map<string, ContactRecord>()
  const present = new Map(known.map((contact) => [contact.phone_key, toContactRecord(contact)]))
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
    const merged = rules.updates ? mergeContact(contact, entry) : contact
    if (Object.keys(merged.customFields).length > maxCustomFields) {
      refuse(entry.line, `row: the contact would have more than ${maxCustomFields} custom fields`)
    } else if (merged === contact) counts.unchanged += 1
    else {
      counts.updated += 1
      present.set(key, merged)
      written.set(key, merged)
    }
  }
  return { counts, errors, written: [...written.values()] }
}

const toContactRecord = (contact: KnownContact): ContactRecord => ({
  id: contact.id,
  phone: contact.phone,
  phoneKey: contact.phone_key,
  name: contact.name,
  email: contact.email,
  customFields: contact.custom_fields as Record<string, string>,
  platformCustomerId: null,
})

/**
 * Replaces the contact's values by those that the person has. Returns the same object if nothing changes. Blanks within
 * a name are no change, because imports reduce them.
 */
function mergeContact(contact: ContactRecord, person: Person): ContactRecord {
  const isSameName = person.name === (contact.name?.replace(/\s+/g, ' ').trim() ?? null)
  const name = isSameName ? contact.name : (person.name ?? contact.name)
  const email = person.email ?? contact.email
  const fields = Object.entries(person.customFields)
  const isSame =
    name === contact.name &&
    // biome-ignore lint/plugin/contact-spelling: decides whether the row is written: another spelling is a change
    email === contact.email &&
    fields.every(([field, value]) => contact.customFields[field] === value)
  if (isSame) return contact
  return { ...contact, name, email, customFields: { ...contact.customFields, ...person.customFields } }
}
