/** Types and SQL conditions for erasing a person's data (rule 21), who is called the data subject. */
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'
import { emailKeySql } from '#runtime/values/email'
import { listPhoneSpellings } from '#runtime/values/phone'

export interface DataSubject {
  customerId: string | null
  /** Emails, normalized with `emailKey`. */
  emailKeys: readonly string[]
  phoneKeys: readonly string[]
  /** The ids of the person's orders. */
  orderIds: readonly string[]
  /** The customer names on the person's orders. */
  names: readonly string[]
}

/** A section's part in an erasure. Both functions run in the transaction that applies the erasure request. */
export interface ErasureHandler {
  /**
   * Cancels queued messages to the person. Runs for all sections before any section erases, because sending a message would
   * create new rows in other sections.
   */
  stop?(ctx: Context, person: DataSubject): Promise<unknown>
  erase(ctx: Context, person: DataSubject): Promise<unknown>
}

interface Columns {
  customer?: string
  email?: string
  phoneKey?: string
  /** A column in E.164, for tables without a `phone_key`. */
  phone?: string
  order?: string
}

/** SQL condition for rows of the data subject. `columns`: the table's columns that identify a person. */
export function belongsToSubject(
  { customerId, emailKeys, phoneKeys, orderIds }: DataSubject,
  columns: Columns,
): RawBuilder<boolean> {
  const among = (column: RawBuilder<unknown>, values: readonly string[]) =>
    values.length > 0 && sql`${column} = any(${[...values]}::text[])`
  const found = [
    columns.customer && customerId !== null && sql`${sql.ref(columns.customer)} = ${customerId}`,
    columns.email && among(emailKeySql(columns.email), emailKeys),
    columns.phoneKey && among(sql.ref(columns.phoneKey), phoneKeys),
    columns.phone && among(sql.ref(columns.phone), phoneKeys.flatMap(listPhoneSpellings)),
    columns.order && among(sql.ref(columns.order), orderIds),
  ].filter((each) => typeof each === 'object')
  return found.length === 0 ? sql<boolean>`false` : sql<boolean>`(${sql.join(found, sql` or `)})`
}

/**
 * SQL condition for text or JSON that contains the person's email, or phone in any notation, or with `withNames` the full
 * name.
 */
export function mentionsSubject(
  person: DataSubject,
  text: RawBuilder<string>,
  withNames = false,
): RawBuilder<boolean> {
  const patterns = buildPatterns(person, withNames)
  return patterns.length === 0 ? sql<boolean>`false` : sql<boolean>`${text} ~* any(${patterns}::text[])`
}

/** SQL for the text with the person's name, email and phone replaced by `…`. */
export function redactSubject(person: DataSubject, column: string): RawBuilder<string> {
  const patterns = buildPatterns(person, true)
  const text = sql<string>`${sql.ref(column)}`
  return patterns.length === 0
    ? text
    : sql<string>`regexp_replace(${text}, ${patterns.map((each) => `(?:${each})`).join('|')}, '…', 'gi')`
}

function buildPatterns({ emailKeys, phoneKeys, names }: DataSubject, withNames: boolean): string[] {
  return [
    ...emailKeys.map((email) => `(?<![[:alnum:]._%+-])${escapePattern(email)}(?![[:alnum:]-])`),
    ...phoneKeys
      .flatMap(listPhoneSpellings)
      .map((phone) => `(?<!\\d)${[...phone.slice(1)].join('[^[:alnum:]"]{0,2}')}(?!\\d)`),
    // A first name alone would match many people.
    ...(withNames ? names.filter((name) => /\S\s+\S/.test(name.trim())) : []).map(
      (name) => `(?<![[:alnum:]])${escapePattern(name.trim())}(?![[:alnum:]])`,
    ),
  ]
}

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|-]/g, '\\$&')
