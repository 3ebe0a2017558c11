/**
 * Addresses of people: an E.164 phone, or the WhatsApp id of a person whose phone is hidden, such as `BR.1349`. Parses
 * them, separates them in SQL, and looks up the phones that are known for ids.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'
import { z } from '#runtime/schema'
import { parsePhone } from '#runtime/values/phone'

const personId = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/

/** A phone or an id as people and programs write it, which `parseAddress` parses. */
export const personAddress = z
  .string()
  .max(140)
  .describe(
    "Stored as E.164. A number without a prefix is one of the store's country; prefixes of programs (tel:), chat ids, links and 00 are understood. Of a person whose phone is hidden, the WhatsApp id (BR.1349…)",
  )

export const isPhone = (address: string): boolean => address.startsWith('+')

/** SQL: the phone in a column of addresses, or null. */
export const shownPhone = (column: string): RawBuilder<string | null> =>
  sql<string | null>`case when ${sql.ref(column)} like '+%' then ${sql.ref(column)} end`

/** SQL: the id in a column of addresses, or null. */
export const shownPersonId = (column: string): RawBuilder<string | null> =>
  sql<string | null>`case when ${sql.ref(column)} not like '+%' then ${sql.ref(column)} end`

/** Parses a phone or a person's id; null for other text. */
export const parseAddress = (text: string, country: string): string | null =>
  personId.test(text.trim()) ? text.trim() : parsePhone(text, country)

/** Reads the phones of people by their ids. Ids without a known phone are not among the rows. */
export const listKnownPeople = (ctx: Context, userIds: readonly string[]) =>
  ctx.db
    .selectFrom('number_users')
    .select(['number_id', 'user_id', 'phone'])
    .where('user_id', '=', sql<string>`any(${[...userIds]}::text[])`)
    .orderBy('seen_at')
    .execute()

/** Returns a function that replaces an id by the person's phone, if the store has learned it. */
export async function findKnownPhones(
  ctx: Context,
  addresses: readonly string[],
): Promise<(address: string) => string> {
  const ids = addresses.filter((address) => !isPhone(address))
  if (ids.length === 0) return (address) => address
  const phones = new Map((await listKnownPeople(ctx, ids)).map((row) => [row.user_id, row.phone]))
  return (address) => phones.get(address) ?? address
}
