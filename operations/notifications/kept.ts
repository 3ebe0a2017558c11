/** What is kept: 90 days, and the newest 1,000 of a store. Reads show no more, whenever the job runs. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'

type Db = Kysely<TenantTables>

export const keptAtMost = 1000

/** What was made before is not kept any more: 90 times 24 hours, whatever the session's zone. */
export const keptSince = (now: Date): RawBuilder<Date> =>
  sql<Date>`${now}::timestamptz - interval '2160 hours'`

/** Who reads, and when. */
export interface Reader {
  userId: string
  now: Date
}

/** Of the notification `n`: for everybody, or for this member. */
const isFor = ({ userId }: Pick<Reader, 'userId'>): RawBuilder<boolean> =>
  sql<boolean>`(n.recipient_ids is null or ${userId}::uuid = any(n.recipient_ids))`

/** The rows a member sees, `n`: at most 1,000 index entries are walked, however many there are. */
export const visible = (db: Db, reader: Reader) =>
  db
    .selectFrom(
      db
        .selectFrom('notifications as k')
        .selectAll('k')
        .where('k.created_at', '>=', keptSince(reader.now))
        .orderBy('k.created_at', 'desc')
        .orderBy('k.id', 'desc')
        .limit(sql<number>`${sql.lit(keptAtMost)}`)
        .as('n'),
    )
    .where(isFor(reader))

/** Of the notification `n` of a query, where one is looked for by its id: whether this member sees it. */
export const isVisible = (db: Db, reader: Reader): RawBuilder<boolean> => {
  const newer = db
    .selectFrom(
      db
        .selectFrom('notifications as k')
        .select('k.id')
        .where(sql<boolean>`(k.created_at, k.id) > (n.created_at, n.id)`)
        .limit(sql<number>`${sql.lit(keptAtMost)}`)
        .as('newer'),
    )
    .select(sql`count(*)`.as('n'))
  return sql<boolean>`(n.created_at >= ${keptSince(reader.now)} and ${isFor(reader)}
    and (${newer}) < ${sql.lit(keptAtMost)})`
}

/** Of the notification `n`: this member has not read it. */
export const isUnread = (db: Db, { userId }: Pick<Reader, 'userId'>): RawBuilder<boolean> =>
  sql<boolean>`not exists (${db
    .selectFrom('notification_reads as r')
    .select('r.user_id')
    .whereRef('r.notification_id', '=', sql.ref('n.id'))
    .where(sql<boolean>`r.user_id = ${userId}::uuid`)})`

/** How many a member has not read. */
export const unreadCount = (db: Db, reader: Reader) =>
  visible(db, reader).where(isUnread(db, reader)).select(sql<number>`count(*)::int`.as('n'))
