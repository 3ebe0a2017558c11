/**
 * Resolves the provider's ids of people to phones. People can hide their phone; they are then identified and reached by
 * the provider's id. If an earlier event contained both, the id resolves to the phone.
 */
import { sql } from 'kysely'
import type { events } from '#operations/store/index'
import type { Context, SystemContext } from '#runtime/context'
import { greatest } from '#runtime/database/sql'
import { phoneKey } from '#runtime/values/phone'
import { isPhone, listKnownPeople } from '../addresses.ts'
import { findOptedOut, add as optOut } from '../opt-outs/opt-outs.ts'
import type { StatusData } from '../provider/hook-body.ts'
import type { InboundData, PersonChangeData } from '../provider/inbound-hooks.ts'

type StoredEvent = Pick<events.StoredEvent, 'storeRef' | 'data'>

interface KnownPerson {
  numberId: string
  userId: string
  phone: string
}

const toMatchKey = (numberId: string, userId: string): string => `${numberId} ${userId}`

/** Records which phone an id belongs to, in the transaction that applies the events. */
export async function recordPeople(ctx: Context, stored: readonly StoredEvent[]): Promise<void> {
  const known = new Map<string, KnownPerson>()
  for (const { storeRef: numberId, data } of stored) {
    const { phone, userId, recipient } = data as Partial<InboundData & StatusData>
    const person = recipient ?? (phone && userId && isPhone(phone) ? { phone, userId } : null)
    if (numberId && person) known.set(toMatchKey(numberId, person.userId), { numberId, ...person })
  }
  await recordPerson(ctx, [...known.values()])
}

async function recordPerson(ctx: Context, known: readonly KnownPerson[]): Promise<void> {
  if (known.length === 0) return
  const before = await listKnownPeople(
    ctx,
    known.map(({ userId }) => userId),
  )
  const phones = new Map(before.map((row) => [toMatchKey(row.number_id, row.user_id), phoneKey(row.phone)]))
  const fresh = known.filter(
    ({ numberId, userId, phone }) => phones.get(toMatchKey(numberId, userId)) !== phoneKey(phone),
  )
  if (fresh.length === 0) return
  const rows = fresh.map(({ numberId, userId, phone }) => ({
    number_id: numberId,
    user_id: userId,
    phone,
    seen_at: ctx.now(),
  }))
  await ctx.db
    .insertInto('number_users')
    .values(rows.sort((a, b) => (a.user_id < b.user_id ? -1 : 1)))
    .onConflict((conflict) =>
      conflict
        .columns(['store_id', 'number_id', 'user_id'])
        .doUpdateSet((eb) => ({ phone: eb.ref('excluded.phone'), seen_at: eb.ref('excluded.seen_at') })),
    )
    .execute()
  for (const { userId, phone } of fresh) await copyToAddress(ctx, userId, phone)
}

/** Copies what is stored for one address to the other: opt-out, window, and the data of extensions. */
async function copyToAddress(ctx: Context, from: string, to: string): Promise<void> {
  if ((await findOptedOut(ctx, [from])).size > 0) await optOut(ctx, to, 'reply')
  const window = await ctx.db
    .selectFrom('contact_windows')
    .select('last_inbound_at')
    .where('phone_key', '=', phoneKey(from))
    .executeTakeFirst()
  if (window) await openWindow(ctx, phoneKey(to), window.last_inbound_at)
  for (const handler of ctx.extensions.readdressed) await handler(ctx, { from, to })
}

const openWindow = (ctx: Context, key: string, at: Date) =>
  ctx.db
    .insertInto('contact_windows')
    .values({ phone_key: key, last_inbound_at: at })
    .onConflict((conflict) =>
      conflict.columns(['store_id', 'phone_key']).doUpdateSet({
        last_inbound_at: greatest<Date>(
          sql.ref('contact_windows.last_inbound_at'),
          sql.ref('excluded.last_inbound_at'),
        ),
      }),
    )
    .execute()

/** Returns the address of each event's person, in the order of the events: the phone if known, otherwise the id. */
export async function resolveAddresses(ctx: Context, stored: readonly StoredEvent[]): Promise<string[]> {
  const hidden = findHiddenIds(stored)
  if (hidden.length === 0) return stored.map(({ data }) => (data as InboundData).phone)
  return toAddresses(stored, await listKnownPeople(ctx, hidden))
}

/** Like `resolveAddresses`, but for events whose store is not known yet: searches all stores that use the number. */
export async function resolveAddressesAcrossStores(
  ctx: SystemContext,
  stored: readonly StoredEvent[],
): Promise<(string | undefined)[]> {
  const hidden = findHiddenIds(stored)
  if (hidden.length === 0) return stored.map(({ data }) => (data as Partial<InboundData>).phone)
  const rows = await ctx.root
    .selectFrom('number_users')
    .select(['number_id', 'user_id', 'phone'])
    .where('user_id', '=', sql<string>`any(${hidden}::text[])`)
    .where('number_id', '=', sql<string>`any(${stored.map(({ storeRef }) => storeRef ?? '')}::text[])`)
    .execute()
  return toAddresses(stored, rows)
}

function findHiddenIds(stored: readonly StoredEvent[]): string[] {
  const people = stored.map(({ data }) => (data as Partial<InboundData>).phone)
  return [...new Set(people.flatMap((phone) => (phone === undefined || isPhone(phone) ? [] : phone)))]
}

function toAddresses(
  stored: readonly StoredEvent[],
  rows: readonly { number_id: string; user_id: string; phone: string }[],
): string[] {
  const phones = new Map(rows.map((row) => [toMatchKey(row.number_id, row.user_id), row.phone]))
  return stored.map(({ storeRef, data }) => {
    const { phone } = data as InboundData
    return phones.get(toMatchKey(storeRef ?? '', phone)) ?? phone
  })
}

/**
 * Applies a person's change of phone or id: copies their data to the new address. A new phone always brings a new id, so
 * that an id which changes alone may mean a phone that we are not told: the new id is not taken for the old phone's.
 */
export async function applyPersonChanges(ctx: Context, stored: readonly events.StoredEvent[]): Promise<void> {
  for (const { storeRef: numberId, data } of stored) {
    const { before, now } = data as PersonChangeData
    const known = before.userId && numberId ? await findPhone(ctx, numberId, before.userId) : null
    const from = before.phone ?? known ?? before.userId
    const to = now.phone ?? now.userId
    if (!from || !to) continue
    if (from !== to) await copyToAddress(ctx, from, to)
    const userId = now.userId ?? before.userId
    if (numberId && userId && isPhone(to)) await recordPerson(ctx, [{ numberId, userId, phone: to }])
  }
}

async function findPhone(ctx: Context, numberId: string, userId: string): Promise<string | null> {
  const row = await ctx.db
    .selectFrom('number_users')
    .select('phone')
    .where('number_id', '=', numberId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row?.phone ?? null
}
