/** Notifications as seen by one member. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { type CursorPaging, preparedList } from '#runtime/database/list'
import { preparedOne, preparedRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { isId } from '#runtime/values/ids'
import type { NewNotification } from './schema.ts'
import { countUnread, isUnread, isVisible, type Reader, selectVisible } from './visibility.ts'

const notificationJson = jsonObject({
  id: 'n.id',
  type: 'n.type',
  level: 'n.level',
  title: 'n.title',
  message: 'n.message',
  link: 'n.link',
  data: 'n.data',
  source: 'n.source',
  createdBy: 'n.created_by',
  recipientIds: 'n.recipient_ids',
  isRead: sql`r.read_at is not null`,
  readAt: isoInstant('r.read_at'),
  createdAt: isoInstant('n.created_at'),
  updatedAt: isoInstant('n.updated_at'),
})

const toReader = (ctx: Context): Reader => ({ userId: ctx.actor.userId!, now: ctx.now() })

export interface NotificationFilters {
  isRead?: boolean | undefined
  level?: string[] | undefined
  type?: string[] | undefined
}

/** Values of the prepared statements. Which keys are present decides which statement runs. */
interface Conditions extends Reader {
  onlyRead?: true
  onlyUnread?: true
  level?: string[]
  type?: string[]
}

const listPage = preparedList<Conditions>(
  (db, values, has) => {
    let rows = selectVisible(db, values).leftJoin('notification_reads as r', (join) =>
      join.onRef('r.notification_id', '=', 'n.id').on(sql<boolean>`r.user_id = ${values.userId}::uuid`),
    )
    if (has('onlyRead')) rows = rows.where('r.read_at', 'is not', null)
    if (has('onlyUnread')) rows = rows.where('r.read_at', 'is', null)
    if (has('level')) rows = rows.where(sql<boolean>`n.level = any(${values.level}::text[])`)
    if (has('type')) rows = rows.where(sql<boolean>`n.type = any(${values.type}::text[])`)
    return {
      rows,
      item: notificationJson,
      order: [
        ['n.created_at', 'desc'],
        ['n.id', 'desc'],
      ],
      extra: { unreadCount: sql`(${countUnread(db, values)})` },
    }
  },
  { cursorFilters: ['userId', 'onlyRead', 'onlyUnread', 'level', 'type'] },
)

/** Lists a page of notifications visible to the key's creator, newest first, with their total unread count. */
export function listNotifications(
  ctx: Context,
  { isRead, level, type, ...walk }: NotificationFilters & CursorPaging,
): Promise<JsonText> {
  return listPage(ctx, {
    ...toReader(ctx),
    ...(isRead === undefined ? {} : isRead ? { onlyRead: true } : { onlyUnread: true }),
    ...(level ? { level } : {}),
    ...(type ? { type } : {}),
    ...walk,
  })
}

/** Creates a notification for every member in one statement. It is already read by its author. */
export async function createNotification(ctx: Context, input: NewNotification): Promise<JsonText> {
  const now = ctx.now()
  const made = await ctx.db
    .with('n', (db) =>
      db
        .insertInto('notifications')
        .values({
          id: ctx.newId(),
          type: input.type ?? 'custom',
          level: input.level ?? 'info',
          title: input.title,
          message: input.message || null,
          link: input.link ?? null,
          data: input.data ? JSON.stringify(input.data) : null,
          source: 'api',
          created_by: ctx.actor.userId,
          created_at: now,
          updated_at: now,
        })
        .returningAll(),
    )
    .with('r', (db) =>
      db
        .insertInto('notification_reads')
        .columns(['notification_id', 'user_id', 'read_at'])
        .expression((eb) =>
          eb
            .selectFrom('n')
            .select([
              'n.id',
              sql<string>`${ctx.actor.userId}::uuid`.as('user_id'),
              sql<Date>`${now}::timestamptz`.as('read_at'),
            ]),
        )
        .returning('notification_reads.read_at'),
    )
    .selectFrom('n')
    .innerJoin('r', (join) => join.onTrue())
    .select(sql<string>`${notificationJson}::text`.as('text'))
    .executeTakeFirstOrThrow()
  return new JsonText(made.text)
}

const noNotification = 'There is no such notification'

const deleteOne = preparedRow(noNotification, (db, values: Reader & { id: string }) =>
  db
    .deleteFrom('notifications as n')
    .where('n.id', '=', values.id)
    .where(isVisible(db, values))
    .returning('n.id'),
)

/** Deletes a notification for the whole store, in one statement. Refuses one that the key's creator cannot see. */
export async function removeNotification(ctx: Context, id: string): Promise<void> {
  await deleteOne(ctx, { ...toReader(ctx), id })
}

const findOne = preparedOne<Reader>(
  noNotification,
  (db, values) => ({
    rows: db
      .selectFrom('notifications as n')
      .leftJoin('notification_reads as r', (join) =>
        join.onRef('r.notification_id', '=', 'n.id').on(sql<boolean>`r.user_id = ${values.userId}::uuid`),
      )
      .where('n.id', '=', values.id)
      .where(isVisible(db, values)),
    item: notificationJson,
  }),
  { values: toReader },
)

/** Marks a notification as read for the key's creator, in the caller's transaction. Idempotent. */
export async function readNotification(ctx: Context, id: string): Promise<JsonText> {
  if (!isId(id)) throw refuse('not_found', noNotification)
  const reader = toReader(ctx)
  await ctx.db
    .insertInto('notification_reads')
    .columns(['notification_id', 'user_id', 'read_at'])
    .expression((eb) =>
      eb
        .selectFrom('notifications as n')
        .where('n.id', '=', id)
        .where(isVisible(ctx.db, reader))
        .select(readColumns(ctx))
        // Waits for a concurrent deletion, instead of violating the foreign key.
        .forKeyShare(),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return findOne(ctx, id)
}

/**
 * Marks all notifications that exist when the statement starts as read for the key's creator, in the caller's transaction.
 * Returns how many were unread, and how many are unread afterwards because they arrived meanwhile.
 */
export async function readAllNotifications(ctx: Context): Promise<{ updated: number; unreadCount: number }> {
  const reader = toReader(ctx)
  const updated = await ctx.db
    .insertInto('notification_reads')
    .columns(['notification_id', 'user_id', 'read_at'])
    .expression(
      selectVisible(ctx.db, reader)
        .where(isUnread(ctx.db, reader))
        .select(readColumns(ctx))
        // Concurrent calls lock rows in the same order, which prevents deadlocks.
        .orderBy('n.created_at', 'desc')
        .orderBy('n.id', 'desc')
        .forKeyShare(['n']),
    )
    .onConflict((conflict) => conflict.doNothing())
    // Counts returned rows: on a cluster the row count includes conflicts.
    .returning('notification_id')
    .execute()
  const { n } = await countUnread(ctx.db, reader).executeTakeFirstOrThrow()
  return { updated: updated.length, unreadCount: n }
}

/** Columns of `notification_reads` for notification `n`. */
const readColumns = (ctx: Context) =>
  [
    sql<string>`n.id`.as('notification_id'),
    sql<string>`${ctx.actor.userId}::uuid`.as('user_id'),
    sql<Date>`${ctx.now()}::timestamptz`.as('read_at'),
  ] as const
