/** Rows of discounts, and where each stands by the clock. */
import { type RawBuilder, sql } from 'kysely'
import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { oneRow } from '#runtime/database/rows'
import type { Draft, KindName } from './draft.ts'

export type SyncStatus = 'none' | 'synced' | 'failed' | 'suspended'

export interface Saved<C extends object = object> extends Draft<C> {
  id: string
  kind: KindName
  revision: number
  /** As it was left; `pending` is computed where it is read. */
  syncStatus: SyncStatus
  usageCount: number
  updatedAt: Date
}

export type DiscountStatus = 'active' | 'scheduled' | 'paused' | 'ended' | 'exhausted'

export function savedOf(row: Row<'discounts'>): Saved {
  return {
    id: row.id,
    kind: row.kind as KindName,
    name: row.name,
    isActive: row.is_active,
    startsAt: row.starts_at?.toISOString() ?? null,
    endsAt: row.ends_at?.toISOString() ?? null,
    content: row.content as object,
    revision: row.revision,
    syncStatus: row.sync_status as SyncStatus,
    usageCount: row.usage_count,
    updatedAt: row.updated_at,
  }
}

/** In this order: ended, exhausted, paused, scheduled, active. */
export function statusAt(discount: Draft & { usageCount: number }, now: Date): DiscountStatus {
  const at = now.toISOString()
  const { usageLimit = null } = discount.content as { usageLimit?: number | null }
  if (discount.endsAt !== null && discount.endsAt <= at) return 'ended'
  if (usageLimit !== null && discount.usageCount >= usageLimit) return 'exhausted'
  if (!discount.isActive) return 'paused'
  return discount.startsAt !== null && discount.startsAt > at ? 'scheduled' : 'active'
}

export const isLive = (discount: Draft & { usageCount: number }, now: Date): boolean =>
  ['active', 'scheduled'].includes(statusAt(discount, now))

/** `statusAt` of a row `d`, in SQL. */
export const statusIn = (now: unknown): RawBuilder<DiscountStatus> => sql<DiscountStatus>`case
  when d.ends_at <= ${now}::timestamptz then 'ended'
  when d.usage_count >= d.usage_limit then 'exhausted'
  when not d.is_active then 'paused'
  when d.starts_at > ${now}::timestamptz then 'scheduled'
  else 'active' end`

/** `isLive` of a row `d`, in SQL. */
export const liveIn = (now: unknown): RawBuilder<boolean> => sql<boolean>`(d.is_active
  and (d.ends_at is null or d.ends_at > ${now}::timestamptz)
  and (d.usage_limit is null or d.usage_count < d.usage_limit))`

export const noSuch = (noun: string) => `There is no such ${noun}`

/** One discount, or refused; `lock` holds it until the transaction ends. */
export async function findDiscount(
  ctx: Context,
  { name, noun }: { name: KindName; noun: string },
  id: string,
  { lock = false } = {},
): Promise<Saved> {
  const query = ctx.db.selectFrom('discounts').selectAll().where('kind', '=', name)
  return savedOf(await oneRow(lock ? query.forUpdate() : query, id, noSuch(noun)))
}

/** How many of a kind there are, and how many of them are live. */
export async function countDiscounts(
  ctx: Context,
  now: Date,
  kind: KindName | null,
): Promise<{ all: number; live: number }> {
  let query = ctx.db
    .selectFrom('discounts as d')
    .select([
      sql<number>`count(*)::int`.as('all'),
      sql<number>`count(*) filter (where ${liveIn(now)})::int`.as('live'),
    ])
  if (kind) query = query.where('d.kind', '=', kind)
  return query.executeTakeFirstOrThrow()
}
