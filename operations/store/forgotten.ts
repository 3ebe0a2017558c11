/** Somebody who wants to be forgotten, by all that they are known by, and how they are found in a table (rule 21). */
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'
import { emailKeyOf } from '#runtime/values/email'
import { phonesOf } from '#runtime/values/phone'

export interface Forgotten {
  customerId: string | null
  /** As `emailKey` makes them. */
  emailKeys: readonly string[]
  phoneKeys: readonly string[]
  /** Whose orders they are, by their ids. */
  orderIds: readonly string[]
  /** As their orders have it. */
  names: readonly string[]
}

/** Who knows somebody, and forgets them; both in the transaction of the request. */
export interface Forgets {
  /** What is on its way to them ends, before anybody forgets: a message that leaves tells other sections of them. */
  stop?(ctx: Context, person: Forgotten): Promise<unknown>
  forget(ctx: Context, person: Forgotten): Promise<unknown>
}

interface Columns {
  customer?: string
  email?: string
  phoneKey?: string
  /** E.164, where a table has no form to compare. */
  phone?: string
  order?: string
}

/** Whether a row is theirs, by its columns that name somebody; those that are left out are not in the table. */
export function isTheirs(
  { customerId, emailKeys, phoneKeys, orderIds }: Forgotten,
  columns: Columns,
): RawBuilder<boolean> {
  const among = (column: RawBuilder<unknown>, values: readonly string[]) =>
    values.length > 0 && sql`${column} = any(${[...values]}::text[])`
  const found = [
    columns.customer && customerId !== null && sql`${sql.ref(columns.customer)} = ${customerId}`,
    columns.email && among(emailKeyOf(columns.email), emailKeys),
    columns.phoneKey && among(sql.ref(columns.phoneKey), phoneKeys),
    columns.phone && among(sql.ref(columns.phone), phoneKeys.flatMap(phonesOf)),
    columns.order && among(sql.ref(columns.order), orderIds),
  ].filter((each) => typeof each === 'object')
  return found.length === 0 ? sql<boolean>`false` : sql<boolean>`(${sql.join(found, sql` or `)})`
}

/** Whether a text, or JSON, has their email or phone somewhere, however it is written there; with `names` also those. */
export function namesThem(
  person: Forgotten,
  text: RawBuilder<string>,
  withNames = false,
): RawBuilder<boolean> {
  const patterns = patternsOf(person, withNames)
  return patterns.length === 0 ? sql<boolean>`false` : sql<boolean>`${text} ~* any(${patterns}::text[])`
}

/** A text that stays, without their name, email and phone. */
export function withoutThem(person: Forgotten, column: string): RawBuilder<string> {
  const patterns = patternsOf(person, true)
  const text = sql<string>`${sql.ref(column)}`
  return patterns.length === 0
    ? text
    : sql<string>`regexp_replace(${text}, ${patterns.map((each) => `(?:${each})`).join('|')}, '…', 'gi')`
}

function patternsOf({ emailKeys, phoneKeys, names }: Forgotten, withNames: boolean): string[] {
  return [
    ...emailKeys.map((email) => `(?<![[:alnum:]._%+-])${escaped(email)}(?![[:alnum:]-])`),
    ...phoneKeys
      .flatMap(phonesOf)
      .map((phone) => `(?<!\\d)${[...phone.slice(1)].join('[^[:alnum:]"]{0,2}')}(?!\\d)`),
    // A first name alone is many people's.
    ...(withNames ? names.filter((name) => /\S\s+\S/.test(name.trim())) : []).map(
      (name) => `(?<![[:alnum:]])${escaped(name.trim())}(?![[:alnum:]])`,
    ),
  ]
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|-]/g, '\\$&')
