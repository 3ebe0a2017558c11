/**
 * Who somebody is that a provider names by an id of its own: people may hide their phone behind a name, and are then
 * written to by that id. What told both before tells whose phone it is.
 */
import { sql } from 'kysely'
import type { events } from '#operations/store/door'
import type { Context, SystemContext } from '#runtime/context'
import { greatest } from '#runtime/database/sql'
import { phoneKey } from '#runtime/values/phone'
import { among, add as optOut } from '../opt-outs/opt-outs.ts'
import type { StatusData } from '../provider/hook-body.ts'
import type { InboundData, PersonChangeData } from '../provider/inbound-hooks.ts'

type StoredEvent = Pick<events.StoredEvent, 'storeRef' | 'data'>

interface Known {
  numberId: string
  userId: string
  phone: string
}

const isPhone = (address: string): boolean => address.startsWith('+')
const keyOf = (numberId: string, userId: string): string => `${numberId} ${userId}`

/** Remembers whose phone an id is, in the transaction that applies the events. */
export async function notePeople(ctx: Context, stored: readonly StoredEvent[]): Promise<void> {
  const known = new Map<string, Known>()
  for (const { storeRef: numberId, data } of stored) {
    const { phone, userId, recipient } = data as Partial<InboundData & StatusData>
    const told = recipient ?? (phone && userId && isPhone(phone) ? { phone, userId } : null)
    if (numberId && told) known.set(keyOf(numberId, told.userId), { numberId, ...told })
  }
  await note(ctx, [...known.values()])
}

async function note(ctx: Context, known: readonly Known[]): Promise<void> {
  if (known.length === 0) return
  const before = await rowsOf(
    ctx,
    known.map(({ userId }) => userId),
  )
  const phones = new Map(before.map((row) => [keyOf(row.number_id, row.user_id), phoneKey(row.phone)]))
  const fresh = known.filter(
    ({ numberId, userId, phone }) => phones.get(keyOf(numberId, userId)) !== phoneKey(phone),
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
  for (const { userId, phone } of fresh) await readdress(ctx, userId, phone)
}

/** What is kept under one address holds for the other from now on: opt-out, window, and what others wired keep. */
async function readdress(ctx: Context, from: string, to: string): Promise<void> {
  if ((await among(ctx, [from])).size > 0) await optOut(ctx, to, 'reply')
  const window = await ctx.db
    .selectFrom('contact_windows')
    .select('last_inbound_at')
    .where('phone_key', '=', phoneKey(from))
    .executeTakeFirst()
  if (window) await openWindow(ctx, phoneKey(to), window.last_inbound_at)
  for (const told of ctx.wired.readdressed) await told(ctx, { from, to })
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

/** The address of each event's person, in their order: the phone where it is known. */
export async function addressesOf(ctx: Context, stored: readonly StoredEvent[]): Promise<string[]> {
  const hidden = hiddenAmong(stored)
  if (hidden.length === 0) return stored.map(({ data }) => (data as InboundData).phone)
  return addressed(stored, await rowsOf(ctx, hidden))
}

const rowsOf = (ctx: Context, userIds: readonly string[]) =>
  ctx.db
    .selectFrom('number_users')
    .select(['number_id', 'user_id', 'phone'])
    .where('user_id', '=', sql<string>`any(${[...userIds]}::text[])`)
    .execute()

/** The same before the store of an event is known: of whichever store that uses its number. */
export async function addressesAnywhere(
  ctx: SystemContext,
  stored: readonly StoredEvent[],
): Promise<(string | undefined)[]> {
  const hidden = hiddenAmong(stored)
  if (hidden.length === 0) return stored.map(({ data }) => (data as Partial<InboundData>).phone)
  const rows = await ctx.root
    .selectFrom('number_users')
    .select(['number_id', 'user_id', 'phone'])
    .where('user_id', '=', sql<string>`any(${hidden}::text[])`)
    .where('number_id', '=', sql<string>`any(${stored.map(({ storeRef }) => storeRef ?? '')}::text[])`)
    .execute()
  return addressed(stored, rows)
}

function hiddenAmong(stored: readonly StoredEvent[]): string[] {
  const people = stored.map(({ data }) => (data as Partial<InboundData>).phone)
  return [...new Set(people.flatMap((phone) => (phone === undefined || isPhone(phone) ? [] : phone)))]
}

function addressed(
  stored: readonly StoredEvent[],
  rows: readonly { number_id: string; user_id: string; phone: string }[],
): string[] {
  const phones = new Map(rows.map((row) => [keyOf(row.number_id, row.user_id), row.phone]))
  return stored.map(({ storeRef, data }) => {
    const { phone } = data as InboundData
    return phones.get(keyOf(storeRef ?? '', phone)) ?? phone
  })
}

/** Somebody has another phone, or another id: what is kept of them goes with them. */
export async function applyPersonChanges(ctx: Context, stored: readonly events.StoredEvent[]): Promise<void> {
  for (const { storeRef: numberId, data } of stored) {
    const { before, now } = data as PersonChangeData
    const known = before.userId && numberId ? await phoneOf(ctx, numberId, before.userId) : null
    const from = before.phone ?? known ?? before.userId
    const to = now.phone ?? known ?? now.userId
    if (!from || !to) continue
    if (from !== to) await readdress(ctx, from, to)
    const userId = now.userId ?? before.userId
    if (numberId && userId && isPhone(to)) await note(ctx, [{ numberId, userId, phone: to }])
  }
}

async function phoneOf(ctx: Context, numberId: string, userId: string): Promise<string | null> {
  const row = await ctx.db
    .selectFrom('number_users')
    .select('phone')
    .where('number_id', '=', numberId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row?.phone ?? null
}
