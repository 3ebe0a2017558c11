/**
 * Counts how many different phones an official number has sent templates to outside their windows in the last 24 hours
 * (rule 6). Phones are counted before their message is sent, so that two workers never exceed the limit together.
 */

import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { dayMs } from '#runtime/durations'
import { phoneKey } from '#runtime/values/phone'
import type { Connection } from './route.ts'

const buildRecipientKey = (numberId: string, key: string): string => `${numberId} ${key}`
const getWindowStart = (at: Date): Date => new Date(at.getTime() - dayMs)

/** Recipients per day by tier; null: unlimited. */
export const tierLimits: Readonly<Record<string, number | null>> = {
  'tier-250': 250,
  'tier-1k': 1_000,
  'tier-2k': 2_000,
  'tier-10k': 10_000,
  'tier-100k': 100_000,
  'tier-unlimited': null,
}

/** Stores the number's limit as reported by the provider; null: unlimited. */
export async function setNumberLimit(ctx: Context, numberId: string, atMost: number | null): Promise<void> {
  await ctx.db
    .insertInto('number_usage')
    .values({ number_id: numberId, used: 0, at_most: atMost })
    .onConflict((conflict) => conflict.columns(['store_id', 'number_id']).doUpdateSet({ at_most: atMost }))
    .execute()
}

export interface NumberUsage {
  /** Null: unlimited. */
  limit: number | null
  used: number
  /** Null: unlimited. */
  remaining: number | null
  /** When the oldest counted recipient expires; null unless `remaining` is 0. */
  nextFreeAt: Date | null
}

const findUsage = prepared<
  { numberId: string; since: Date },
  { at_most: number | null; used: number; oldest: Date | null }
>((db, values) => {
  const counted = db
    .selectFrom('number_recipients as r')
    .where('r.number_id', '=', values.numberId)
    .where('r.counted_at', '>', values.since)
  return db.selectNoFrom([
    sql<number | null>`(${db
      .selectFrom('number_usage as u')
      .select('u.at_most')
      .where('u.number_id', '=', values.numberId)})`.as('at_most'),
    sql<number>`(${counted.select(sql`count(*)::int`.as('n'))})`.as('used'),
    sql<Date | null>`(${counted.select('r.counted_at').orderBy('r.counted_at').limit(1)})`.as('oldest'),
  ])
})

/** Reads the usage of one number from its counted recipients. */
export async function readNumberUsage(ctx: Context, numberId: string): Promise<NumberUsage> {
  const [row] = await findUsage(ctx, { numberId, since: getWindowStart(ctx.now()) })
  const { at_most: limit, used, oldest } = row!
  const remaining = limit === null ? null : Math.max(0, limit - used)
  const nextFreeAt = remaining === 0 && oldest ? new Date(oldest.getTime() + dayMs) : null
  return { limit, used, remaining, nextFreeAt }
}

const findRoom = prepared<
  { numberId: string; recipient: string; since: Date },
  { is_known: boolean; has_room: boolean }
>((db, values) => {
  const counted = db
    .selectFrom('number_recipients as r')
    .select(sql<boolean>`r.counted_at > ${values.since}`.as('is_known'))
    .where('r.recipient', '=', values.recipient)
  const expired = db
    .selectFrom('number_recipients as r')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('r.number_id', '=', values.numberId)
    .where('r.counted_at', '<=', values.since)
  const usage = db
    .selectFrom('number_usage as u')
    .select(sql<boolean>`u.at_most is null or u.used - (${expired}) < u.at_most`.as('room'))
    .where('u.number_id', '=', values.numberId)
  return db.selectNoFrom([
    sql<boolean>`coalesce((${counted}), false)`.as('is_known'),
    sql<boolean>`coalesce((${usage}), true)`.as('has_room'),
  ])
})

/** Whether a phone could get a template now. This is only a preview: `countRecipients` decides before a send. */
export async function hasRoom(ctx: Context, numberId: string, phone: string): Promise<boolean> {
  const recipient = buildRecipientKey(numberId, phoneKey(phone))
  const values = { numberId, recipient, since: getWindowStart(ctx.now()) }
  const [row] = await findRoom(ctx, values)
  return row!.is_known || row!.has_room
}

export interface CountedRecipients {
  /** Whether a template may be sent to this phone (E.164). */
  has(phone: string): boolean
  /** Uncounts recipients whose message was not sent. */
  uncount(phones: readonly string[]): Promise<void>
}

/**
 * Counts the recipients of templates before they are sent, in a short transaction of its own. Phones that are counted
 * already or have an open window always pass; other phones pass while the limit allows. Without a limit all pass.
 */
export async function countRecipients(
  ctx: Context,
  connection: Connection,
  phones: readonly string[],
): Promise<CountedRecipients> {
  const keys = [...new Set(phones.map(phoneKey))]
  const closed = connection.type === 'official' ? await findClosedWindows(ctx, keys) : []
  if (closed.length === 0) return { has: () => true, uncount: async () => {} }
  const { numberId } = connection
  const at = ctx.now()
  const refused = new Set(await ctx.transaction((tx) => countKeys(tx, numberId, closed, at)))
  const counted = new Set(closed.filter((key) => !refused.has(key)))
  return {
    has: (phone) => !refused.has(phoneKey(phone)),
    async uncount(unsent) {
      const back = [...new Set(unsent.map(phoneKey))].filter((key) => counted.has(key))
      if (back.length > 0) await ctx.transaction((tx) => uncountKeys(tx, numberId, back, at))
    },
  }
}

async function findClosedWindows(ctx: Context, keys: readonly string[]): Promise<string[]> {
  if (keys.length === 0) return []
  const rows = await ctx.db
    .selectFrom('contact_windows')
    .select('phone_key')
    .where('phone_key', '=', among(keys))
    .where('last_inbound_at', '>', getWindowStart(ctx.now()))
    .execute()
  const open = new Set(rows.map((row) => row.phone_key))
  return keys.filter((key) => !open.has(key))
}

const among = (keys: readonly string[]) => sql<string>`any(${keys}::text[])`
const recipientsAmong = (numberId: string, keys: readonly string[]) =>
  among(keys.map((key) => buildRecipientKey(numberId, key)))

/** Counts recipients while the limit allows. Returns the keys that exceed it. */
async function countKeys(
  tx: Context,
  numberId: string,
  keys: readonly string[],
  at: Date,
): Promise<string[]> {
  const limit = await lockUsage(tx, numberId)
  const used = await dropExpired(tx, numberId, at)
  const rows = await tx.db
    .selectFrom('number_recipients')
    .select('recipient')
    .where('recipient', '=', recipientsAmong(numberId, keys))
    .execute()
  const known = new Set(rows.map((row) => row.recipient))
  const fresh = keys.filter((key) => !known.has(buildRecipientKey(numberId, key)))
  const room = limit === null ? fresh.length : Math.max(0, limit - used)
  const added = fresh.slice(0, room)
  const counted = [...known, ...added.map((key) => buildRecipientKey(numberId, key))]
  if (counted.length > 0) {
    await tx.db
      .insertInto('number_recipients')
      .columns(['number_id', 'recipient', 'counted_at'])
      .expression((eb) =>
        eb
          .selectFrom(sql<{ key: string }>`unnest(${counted}::text[])`.as<'k'>(sql`k(key)`))
          .select([
            sql<string>`${numberId}::text`.as('number_id'),
            'k.key as recipient',
            sql<Date>`${at}::timestamptz`.as('counted_at'),
          ]),
      )
      .onConflict((conflict) =>
        conflict.columns(['store_id', 'recipient']).doUpdateSet((eb) => ({
          before_at: eb.ref('number_recipients.counted_at'),
          // Citus drops the row parameters if the conflict clause has its own.
          counted_at: eb.ref('excluded.counted_at'),
        })),
      )
      .execute()
  }
  if (added.length > 0) await addUsed(tx, numberId, added.length)
  return fresh.slice(room)
}

/** Locks the number's usage row, which serializes the workers that count for it. Returns the number's limit. */
async function lockUsage(tx: Context, numberId: string): Promise<number | null> {
  const { at_most: limit } = await tx.db
    .insertInto('number_usage')
    .values({ number_id: numberId, used: 0, at_most: null })
    .onConflict((conflict) =>
      conflict.columns(['store_id', 'number_id']).doUpdateSet({ number_id: numberId }),
    )
    .returning('at_most')
    .executeTakeFirstOrThrow()
  return limit
}

/** Deletes expired recipients. Returns how many still count. */
async function dropExpired(tx: Context, numberId: string, at: Date): Promise<number> {
  const { used } = await tx.db
    .with('expired', (db) =>
      db
        .deleteFrom('number_recipients')
        .where('number_id', '=', numberId)
        .where('counted_at', '<=', getWindowStart(at))
        .returning('recipient'),
    )
    .updateTable('number_usage')
    .set((eb) => ({
      used: eb('used', '-', eb.selectFrom('expired').select(sql<number>`count(*)::int`.as('n'))),
    }))
    .where('number_id', '=', numberId)
    .returning('used')
    .executeTakeFirstOrThrow()
  return used
}

async function uncountKeys(tx: Context, numberId: string, keys: readonly string[], at: Date): Promise<void> {
  await lockUsage(tx, numberId)
  const gone = await tx.db
    .deleteFrom('number_recipients')
    .where('recipient', '=', recipientsAmong(numberId, keys))
    .where('counted_at', '=', at)
    .where((eb) => eb.or([eb('before_at', 'is', null), eb('before_at', '<=', getWindowStart(at))]))
    .returning('recipient')
    .execute()
  await tx.db
    .updateTable('number_recipients')
    .set({ counted_at: sql<Date>`before_at`, before_at: null })
    .where('recipient', '=', recipientsAmong(numberId, keys))
    .where('counted_at', '=', at)
    .where('before_at', 'is not', null)
    .execute()
  if (gone.length > 0) await addUsed(tx, numberId, -gone.length)
}

async function addUsed(tx: Context, numberId: string, change: number): Promise<void> {
  await tx.db
    .updateTable('number_usage')
    .set((eb) => ({ used: eb('used', '+', change) }))
    .where('number_id', '=', numberId)
    .execute()
}
