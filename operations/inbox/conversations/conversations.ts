/** Changes that members make to a conversation. Setting a value again that is already set changes nothing. */

import { type Expression, type SqlBool, sql } from 'kysely'
import type { RowChange } from '#db/tables'
import { notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { countRows, requireRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { isId } from '#runtime/values/ids'
import { inboxReadReceipt } from '../handles.ts'
import { giveName } from './contacts.ts'
import { getConversationContact } from './conversation-contact.ts'
import { noConversation } from './json.ts'

const pinnedAtMost = 50

/** Locks a conversation's row until the transaction ends. Throws `not_found` for an unknown conversation. */
export const lockConversation = (ctx: Context, id: string) =>
  requireRow(ctx.db.selectFrom('conversations').selectAll().forNoKeyUpdate(), id, noConversation)

/** Locks the rows of conversations that match a condition, in the order of their ids to prevent deadlocks. */
export async function lockConversations(ctx: Context, ids: Expression<SqlBool>): Promise<void> {
  await ctx.db.selectFrom('conversations').select('id').where(ids).orderBy('id').forNoKeyUpdate().execute()
}

export async function changeConversation(
  ctx: Context,
  id: string,
  change: RowChange<'conversations'>,
): Promise<void> {
  await ctx.db
    .updateTable('conversations')
    .set({ ...change, updated_at: ctx.now() })
    .where('id', '=', id)
    .execute()
}

/** Pins or unpins a conversation for the whole team. Refuses more than 50 pinned conversations. */
export async function pinConversation(ctx: Context, id: string, pinned: boolean): Promise<void> {
  // The lock on the store serializes pinning, so that the limit cannot be exceeded.
  if (pinned) await ctx.lockStore()
  const row = await lockConversation(ctx, id)
  if ((row.pinned_at !== null) === pinned) return
  if (pinned) {
    if ((await countRows(ctx.db.selectFrom('conversations').where('is_pinned', '=', true))) >= pinnedAtMost) {
      throw refuse('conflict', `${pinnedAtMost} conversations are pinned already: unpin one first`)
    }
  }
  await changeConversation(ctx, id, { pinned_at: pinned ? ctx.now() : null })
}

/** Closes or reopens a conversation. A closed conversation is neither unread nor waiting for an answer. */
export async function setStatus(ctx: Context, id: string, status: 'open' | 'closed'): Promise<void> {
  const row = await lockConversation(ctx, id)
  if (row.status === status) return
  if (status === 'closed') {
    const now = ctx.now()
    await changeConversation(ctx, id, {
      status,
      closed_at: now,
      settled_at: now,
      unread_count: 0,
      waiting_since: null,
    })
    return
  }
  const assignee = row.assignee_id !== null && (await isMember(ctx, row.assignee_id))
  await changeConversation(ctx, id, {
    status,
    closed_at: null,
    ...(assignee ? {} : { assignee_id: null, assignee_name: null }),
  })
}

/** Sets the name that the team gives the contact; null shows the contact's own name again. */
export async function nameContact(ctx: Context, id: string, name: string | null): Promise<void> {
  // Locks the contact before the conversation, in the same order as an inbound message, to prevent deadlocks.
  const { contactId } = await getConversationContact(ctx, id)
  if (await giveName(ctx, contactId, name)) await changeConversation(ctx, id, {})
}

async function isMember(ctx: Context, userId: string): Promise<boolean> {
  return (await memberName(ctx, userId)) !== null
}

/** The name of a current member, or null. */
export async function memberName(ctx: Context, userId: string): Promise<string | null> {
  if (!isId(userId)) return null
  const row = await ctx.db
    .selectFrom('store_people')
    .select('name')
    .where('user_id', '=', userId)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  return row?.name ?? null
}

/**
 * Assigns a conversation to a member or to nobody. With `onlyIfUnassigned` it refuses a conversation that another
 * member has.
 */
export async function assign(
  ctx: Context,
  id: string,
  { assigneeId, onlyIfUnassigned }: { assigneeId: string | null; onlyIfUnassigned: boolean },
): Promise<void> {
  const userId = assigneeId?.toLowerCase() ?? null
  // Locks the member before the conversation, in the same order as the removal of a member, to prevent deadlocks.
  if (userId !== null) await lockMember(ctx, userId)
  const name = userId === null ? null : await memberName(ctx, userId)
  if (userId !== null && name === null) throw refuse('not_found', 'assigneeId: is no member of this store')
  const row = await lockConversation(ctx, id)
  if (onlyIfUnassigned && row.assignee_id !== null && row.assignee_id !== userId) {
    throw refuse('conflict', `${row.assignee_name} has this conversation already`)
  }
  if (row.assignee_id === userId) return
  await changeConversation(ctx, id, { assignee_id: userId, assignee_name: name })
  if (userId === null || userId === ctx.actor.userId) return
  await notify(ctx, {
    type: 'inbox-assigned',
    level: 'info',
    title: 'A conversation was assigned to you',
    message: null,
    data: { conversationId: id },
    recipientIds: [userId],
    dedupeKey: null,
  })
}

/** Locks the membership, so that the member cannot be removed before the transaction ends. */
async function lockMember(ctx: Context, userId: string): Promise<void> {
  if (!isId(userId)) return
  await ctx.db
    .selectFrom('memberships')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('removed_at', 'is', null)
    .forShare()
    .execute()
}

/**
 * Unassigns the open conversations of a member, in the transaction that removes the member. A closed conversation stays
 * assigned until it is reopened.
 */
export async function releaseMember(ctx: Context, userId: string): Promise<void> {
  // Also locks closed conversations, because they may be reopened concurrently.
  await ctx.db
    .selectFrom('conversations')
    .select('id')
    .where('assignee_id', '=', userId)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  await ctx.db
    .updateTable('conversations')
    .set({ assignee_id: null, assignee_name: null, updated_at: ctx.now() })
    .where('assignee_id', '=', userId)
    .where('status', '=', 'open')
    .execute()
}

/** Marks a conversation as read up to a message, by default the newest one. Later messages stay unread. */
export async function markRead(ctx: Context, id: string, upToMessageId: string | undefined): Promise<void> {
  const row = await lockConversation(ctx, id)
  const seen = upToMessageId === undefined ? null : await findMessageTime(ctx, id, upToMessageId)
  const unseen = seen === null ? 0 : await countInboundAfter(ctx, id, seen)
  const unread = Math.min(row.unread_count, unseen)
  if (unread !== row.unread_count) await changeConversation(ctx, id, { unread_count: unread })
  await ctx.queue(inboxReadReceipt, { conversationId: id })
}

/** Reads when a message was stored. Throws `not_found` for a message of another conversation. */
function findMessageTime(ctx: Context, id: string, messageId: string) {
  const stored = ctx.db
    .selectFrom('inbox_messages')
    .select(['id', 'direction', 'created_at'])
    .where('conversation_id', '=', id)
  return requireRow(stored, messageId, 'upToMessageId: is no message of this conversation')
}
type Seen = Awaited<ReturnType<typeof findMessageTime>>

/**
 * Counts the inbound messages that were stored after `seen`. Inbound messages stored at the same instant are ordered by
 * id. A message that another section sent has an id from before its row was stored here, so it is compared by
 * `created_at` only.
 */
async function countInboundAfter(ctx: Context, id: string, seen: Seen): Promise<number> {
  const later = sql<boolean>`created_at > ${seen.created_at}::timestamptz`
  const atOnce = sql<boolean>`created_at = ${seen.created_at}::timestamptz and id > ${seen.id}::uuid`
  const rows = ctx.db
    .selectFrom('inbox_messages')
    .where('conversation_id', '=', id)
    .where('direction', '=', 'inbound')
    .where('type', '<>', 'reaction')
    .where((eb) => eb.or(seen.direction === 'inbound' ? [later, atOnce] : [later]))
  return countRows(rows)
}

/** Marks a conversation as unread. Refuses a conversation without inbound messages. */
export async function markUnread(ctx: Context, id: string): Promise<void> {
  const row = await lockConversation(ctx, id)
  if (row.unread_count > 0) return
  const inbound = await ctx.db
    .selectFrom('inbox_messages')
    .select('id')
    .where('conversation_id', '=', id)
    .where('direction', '=', 'inbound')
    .limit(1)
    .executeTakeFirst()
  if (!inbound) throw refuse('conflict', 'The contact has not written yet: there is nothing to be unread')
  await changeConversation(ctx, id, { unread_count: 1 })
}
