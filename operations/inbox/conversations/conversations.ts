/** Changes to a conversation by the team. Setting the current value again changes nothing. */

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

/** Locks the row until the transaction ends. Throws not_found for an unknown one. */
export const lockConversation = (ctx: Context, id: string) =>
  requireRow(ctx.db.selectFrom('conversations').selectAll().forNoKeyUpdate(), id, noConversation)

/** Locks rows in id order, which prevents deadlocks. */
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

/** Pins or unpins a conversation for the whole team. Refuses the 51st pin. */
export async function pinConversation(ctx: Context, id: string, pinned: boolean): Promise<void> {
  // The store lock serializes pinning, so that the count is exact.
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

/** Closes a conversation, which clears unread and waiting, or reopens it. */
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

/** Sets the contact's given name; null restores the name they gave themselves. */
export async function nameContact(ctx: Context, id: string, name: string | null): Promise<void> {
  // Locks the contact before the conversation, like an inbound message does; the reverse order deadlocks.
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

/** Assigns a conversation to a member or to nobody. With `onlyIfUnassigned` the first claim wins. */
export async function assign(
  ctx: Context,
  id: string,
  { assigneeId, onlyIfUnassigned }: { assigneeId: string | null; onlyIfUnassigned: boolean },
): Promise<void> {
  const userId = assigneeId?.toLowerCase() ?? null
  // Locks the member before the conversation, like removing a member does.
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

/** Prevents removal of the member until the transaction ends. */
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
 * Runs in the transaction that removes a member. Unassigns their open conversations; a closed one keeps the name
 * until it is reopened.
 */
export async function releaseMember(ctx: Context, userId: string): Promise<void> {
  // Locks closed ones too: one may be reopened concurrently.
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

/** Marks as read up to a message (default: the newest). Later messages stay unread. */
export async function markRead(ctx: Context, id: string, upToMessageId: string | undefined): Promise<void> {
  const row = await lockConversation(ctx, id)
  const seen = upToMessageId === undefined ? null : await findMessageTime(ctx, id, upToMessageId)
  const unseen = seen === null ? 0 : await countInboundAfter(ctx, id, seen)
  const unread = Math.min(row.unread_count, unseen)
  if (unread !== row.unread_count) await changeConversation(ctx, id, { unread_count: unread })
  await ctx.queue(inboxReadReceipt, { conversationId: id })
}

/** When a message was stored. Throws not_found for a message of another conversation. */
function findMessageTime(ctx: Context, id: string, messageId: string) {
  const stored = ctx.db
    .selectFrom('inbox_messages')
    .select(['id', 'direction', 'created_at'])
    .where('conversation_id', '=', id)
  return requireRow(stored, messageId, 'upToMessageId: is no message of this conversation')
}
type Seen = Awaited<ReturnType<typeof findMessageTime>>

/**
 * Counts inbound messages stored later. Ids of inbound messages are in storage order; an id of another section is
 * older than its row here, so those compare by `created_at`.
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

/** Marks a conversation as unread. Refuses one without inbound messages. */
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
