/**
 * Retention and visibility: notifications are kept for 90 days, and only the newest 1,000 of a store. Reads enforce
 * this too, so it does not depend on when the prune job runs.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'

type Db = Kysely<TenantTables>

export const retentionLimit = 1000

/** Start of the retention: 90 times 24 hours ago, independent of the session's time zone. */
export const retentionStart = (now: Date): RawBuilder<Date> =>
  sql<Date>`${now}::timestamptz - interval '2160 hours'`

/** The reading member, and the time. */
export interface Reader {
  userId: string
  now: Date
}

/** Whether notification `n` is for everybody or for this member. */
const isAddressedTo = ({ userId }: Pick<Reader, 'userId'>): RawBuilder<boolean> =>
  sql<boolean>`(n.recipient_ids is null or ${userId}::uuid = any(n.recipient_ids))`

/** Selects the notifications (`n`) that are visible to a member. Scans at most 1,000 index entries. */
export const selectVisible = (db: Db, reader: Reader) =>
  db
    .selectFrom(
      db
        .selectFrom('notifications as k')
        .selectAll('k')
        .where('k.created_at', '>=', retentionStart(reader.now))
        .orderBy('k.created_at', 'desc')
        .orderBy('k.id', 'desc')
        .limit(sql<number>`${sql.lit(retentionLimit)}`)
        .as('n'),
    )
    .where(isAddressedTo(reader))

/** Whether this member sees notification `n`, for queries by id. */
export const isVisible = (db: Db, reader: Reader): RawBuilder<boolean> => {
  const newer = db
    .selectFrom(
      db
        .selectFrom('notifications as k')
        .select('k.id')
        .where(sql<boolean>`(k.created_at, k.id) > (n.created_at, n.id)`)
        .limit(sql<number>`${sql.lit(retentionLimit)}`)
        .as('newer'),
    )
    .select(sql`count(*)`.as('n'))
  return sql<boolean>`(n.created_at >= ${retentionStart(reader.now)} and ${isAddressedTo(reader)}
    and (${newer}) < ${sql.lit(retentionLimit)})`
}

/** Whether this member has not read notification `n`. */
export const isUnread = (db: Db, { userId }: Pick<Reader, 'userId'>): RawBuilder<boolean> =>
  sql<boolean>`not exists (${db
    .selectFrom('notification_reads as r')
    .select('r.user_id')
    .whereRef('r.notification_id', '=', sql.ref('n.id'))
    .where(sql<boolean>`r.user_id = ${userId}::uuid`)})`

export const countUnread = (db: Db, reader: Reader) =>
  selectVisible(db, reader).where(isUnread(db, reader)).select(sql<number>`count(*)::int`.as('n'))
