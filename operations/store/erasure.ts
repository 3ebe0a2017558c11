/** Erasure of a person's data (rule 21): the identifiers of the data subject, and SQL conditions that find them. */
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'
import { emailKeySql } from '#runtime/values/email'
import { listPhoneSpellings } from '#runtime/values/phone'

export interface DataSubject {
  customerId: string | null
  /** Normalized with `emailKey`. */
  emailKeys: readonly string[]
  phoneKeys: readonly string[]
  /** The ids of their orders. */
  orderIds: readonly string[]
  /** The names on their orders. */
  names: readonly string[]
}

/** A section's part in an erasure. Both run in the transaction of the request. */
export interface ErasureHandler {
  /** Cancels what is queued for them, before any section erases: a message that is sent creates new rows elsewhere. */
  stop?(ctx: Context, person: DataSubject): Promise<unknown>
  erase(ctx: Context, person: DataSubject): Promise<unknown>
}

interface Columns {
  customer?: string
  email?: string
  phoneKey?: string
  /** E.164, in tables without a `phone_key`. */
  phone?: string
  order?: string
}

/** Matches rows of the data subject. `columns`: the table's columns that identify a person. */
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

/** Matches text or JSON that contains their email or phone in any notation, or with `withNames` their full name. */
export function mentionsSubject(
  person: DataSubject,
  text: RawBuilder<string>,
  withNames = false,
): RawBuilder<boolean> {
  const patterns = buildPatterns(person, withNames)
  return patterns.length === 0 ? sql<boolean>`false` : sql<boolean>`${text} ~* any(${patterns}::text[])`
}

/** The text with their name, email and phone replaced by `…`. */
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
