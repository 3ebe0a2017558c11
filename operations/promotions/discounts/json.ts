/** Builds the JSON of a discount row `d` in the database: the fields common to all kinds. */
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'
import { isoInstant, moneyNumber } from '#runtime/database/json'
import { isLiveSql, statusSql } from './rows.ts'

type Db = Context['db']
type Shape = Record<string, RawBuilder<unknown> | string>

export const contentJson = (key: string): RawBuilder<unknown> => sql`d.content -> ${sql.lit(key)}`
export const contentText = (key: string): RawBuilder<string> => sql<string>`d.content ->> ${sql.lit(key)}`

/** `now` is an instant or a placeholder for a parameter of a prepared statement. */
export function buildCommonShape(db: Db, now: unknown): Shape {
  const open = db
    .selectFrom('discount_intents as n')
    .select(sql`1`.as('one'))
    .where('n.discount_id', '=', sql<string>`d.id`)
  const sync = sql`case when exists (${open}) then 'pending'
    when not ${isLiveSql(now)} then 'none' when d.sync_status = 'none' then 'pending' else d.sync_status end`
  return {
    id: 'd.id',
    name: 'd.name',
    isActive: 'd.is_active',
    startsAt: isoInstant('d.starts_at'),
    endsAt: isoInstant('d.ends_at'),
    combinesWith: contentJson('combinesWith'),
    status: statusSql(now),
    syncStatus: sync,
    syncError: sql`case when d.sync_status = 'failed' and ${isLiveSql(now)} then d.sync_error end`,
    syncedAt: isoInstant('d.synced_at'),
    usageCount: 'd.usage_count',
    discountTotal: moneyNumber('d.discount_total'),
    currency: 'd.currency',
  }
}

export const timesShape: Shape = {
  createdAt: isoInstant('d.created_at'),
  updatedAt: isoInstant('d.updated_at'),
}
