/** Discount rows and their status at an instant. */
import { type RawBuilder, sql } from 'kysely'
import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { requireRow } from '#runtime/database/rows'
import type { Draft, KindName } from './draft.ts'

export type SyncStatus = 'none' | 'synced' | 'failed' | 'suspended'

export interface Saved<C extends object = object> extends Draft<C> {
  id: string
  kind: KindName
  revision: number
  /** The stored status. It is never `pending`, which is computed on read. */
  syncStatus: SyncStatus
  usageCount: number
  updatedAt: Date
}

export type DiscountStatus = 'active' | 'scheduled' | 'paused' | 'ended' | 'exhausted'

export function toSaved(row: Row<'discounts'>): Saved {
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

/** The status of a discount: the first that applies of ended, exhausted, paused, scheduled and active. */
export function getStatus(discount: Draft & { usageCount: number }, now: Date): DiscountStatus {
  const at = now.toISOString()
  const { usageLimit = null } = discount.content as { usageLimit?: number | null }
  if (discount.endsAt !== null && discount.endsAt <= at) return 'ended'
  if (usageLimit !== null && discount.usageCount >= usageLimit) return 'exhausted'
  if (!discount.isActive) return 'paused'
  return discount.startsAt !== null && discount.startsAt > at ? 'scheduled' : 'active'
}

export const isLive = (discount: Draft & { usageCount: number }, now: Date): boolean =>
  ['active', 'scheduled'].includes(getStatus(discount, now))

/** Like `getStatus`, but in SQL for a row `d`. */
export const statusSql = (now: unknown): RawBuilder<DiscountStatus> => sql<DiscountStatus>`case
  when d.ends_at <= ${now}::timestamptz then 'ended'
  when d.usage_count >= d.usage_limit then 'exhausted'
  when not d.is_active then 'paused'
  when d.starts_at > ${now}::timestamptz then 'scheduled'
  else 'active' end`

/** Like `isLive`, but in SQL for a row `d`. */
export const isLiveSql = (now: unknown): RawBuilder<boolean> => sql<boolean>`(d.is_active
  and (d.ends_at is null or d.ends_at > ${now}::timestamptz)
  and (d.usage_limit is null or d.usage_count < d.usage_limit))`

export const notFoundMessage = (noun: string) => `There is no such ${noun}`

/** Finds one discount or refuses (404). With `lock`, locks the row until the transaction ends. */
export async function findDiscount(
  ctx: Context,
  { name, noun }: { name: KindName; noun: string },
  id: string,
  { lock = false } = {},
): Promise<Saved> {
  const query = ctx.db.selectFrom('discounts').selectAll().where('kind', '=', name)
  return toSaved(await requireRow(lock ? query.forUpdate() : query, id, notFoundMessage(noun)))
}

/** Counts the discounts of a kind, and the live ones among them. */
export async function countDiscounts(
  ctx: Context,
  now: Date,
  kind: KindName | null,
): Promise<{ all: number; live: number }> {
  let query = ctx.db
    .selectFrom('discounts as d')
    .select([
      sql<number>`count(*)::int`.as('all'),
      sql<number>`count(*) filter (where ${isLiveSql(now)})::int`.as('live'),
    ])
  if (kind) query = query.where('d.kind', '=', kind)
  return query.executeTakeFirstOrThrow()
}
