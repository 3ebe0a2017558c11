/** Somebody who wants to be forgotten, by all that they are known by, and how they are found in a table. */
import { type RawBuilder, sql } from 'kysely'
import { emailKeyOf } from '#runtime/values/email'

export interface Forgotten {
  customerId: string | null
  /** As `emailKey` makes it. */
  emailKey: string | null
  phoneKey: string | null
  /** Whose orders they are, by their ids. */
  orderIds: readonly string[]
}

/** Whether a row is theirs, by its columns that name somebody; those that are left out are not in the table. */
export function isTheirs(
  { customerId, emailKey, phoneKey, orderIds }: Forgotten,
  columns: { customer?: string; email?: string; phoneKey?: string; order?: string },
): RawBuilder<boolean> {
  const found = [
    columns.customer && customerId !== null && sql`${sql.ref(columns.customer)} = ${customerId}`,
    columns.email && emailKey !== null && sql`${emailKeyOf(columns.email)} = ${emailKey}`,
    columns.phoneKey && phoneKey !== null && sql`${sql.ref(columns.phoneKey)} = ${phoneKey}`,
    columns.order && orderIds.length > 0 && sql`${sql.ref(columns.order)} = any(${[...orderIds]}::text[])`,
  ].filter((each) => typeof each === 'object')
  return found.length === 0 ? sql<boolean>`false` : sql<boolean>`(${sql.join(found, sql` or `)})`
}
