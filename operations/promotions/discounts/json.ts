/** Discounts as JSON, made by the database: what the three kinds have alike, of a row `d`. */
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'
import { instantOf, moneyOf } from '#runtime/database/json'
import { liveIn, statusIn } from './rows.ts'

type Db = Context['db']
type Shape = Record<string, RawBuilder<unknown> | string>

export const content = (key: string): RawBuilder<unknown> => sql`d.content -> ${sql.lit(key)}`
export const contentText = (key: string): RawBuilder<string> => sql<string>`d.content ->> ${sql.lit(key)}`

/** `now`: an instant or its placeholder. */
export function commonShape(db: Db, now: unknown): Shape {
  const open = db
    .selectFrom('discount_intents as n')
    .select(sql`1`.as('one'))
    .where('n.discount_id', '=', sql<string>`d.id`)
  const sync = sql`case when exists (${open}) then 'pending'
    when not ${liveIn(now)} then 'none' when d.sync_status = 'none' then 'pending' else d.sync_status end`
  return {
    id: 'd.id',
    name: 'd.name',
    isActive: 'd.is_active',
    startsAt: instantOf('d.starts_at'),
    endsAt: instantOf('d.ends_at'),
    combinesWith: content('combinesWith'),
    status: statusIn(now),
    syncStatus: sync,
    syncError: sql`case when d.sync_status = 'failed' and ${liveIn(now)} then d.sync_error end`,
    syncedAt: instantOf('d.synced_at'),
    usageCount: 'd.usage_count',
    discountTotal: moneyOf('d.discount_total'),
    currency: 'd.currency',
  }
}

export const timesShape: Shape = {
  createdAt: instantOf('d.created_at'),
  updatedAt: instantOf('d.updated_at'),
}
