/** What the team does to a conversation. A setter that asks for what already holds changes nothing. */

import { type Expression, type SqlBool, sql } from 'kysely'
import type { RowChange } from '#db/tables'
import { notify } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { countRows, oneRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { isId } from '#runtime/values/ids'
import { inboxReadReceipt } from '../handles.ts'
import { contactOf } from './contact-of.ts'
import { giveName } from './contacts.ts'
import { noConversation } from './json.ts'

const pinnedAtMost = 50

/** The row, locked until the transaction ends; refuses an unknown one. */
export const lockConversation = (ctx: Context, id: string) =>
  oneRow(ctx.db.selectFrom('conversations').selectAll().forNoKeyUpdate(), id, noConversation)

/** Many at once, always in one order: two who do so wait for each other. */
export async function lockAll(ctx: Context, ids: Expression<SqlBool>): Promise<void> {
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

/** Keeps a conversation on top of the list for the whole team; refuses the 51st. */
export async function pinConversation(ctx: Context, id: string, pinned: boolean): Promise<void> {
  // Counted under the store's lock: two who pin at once see each other.
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

/** Closes a conversation, which settles what was unread or waited; or opens it again. */
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

/** Names the contact by hand; null goes back to the name they gave themselves. */
export async function nameContact(ctx: Context, id: string, name: string | null): Promise<void> {
  // The contact is locked before the conversation, as where a message comes in: the other way round is a deadlock.
  const { contactId } = await contactOf(ctx, id)
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

/** Gives a conversation to a member, or to nobody. With `onlyIfUnassigned` the first of two who claim it has it. */
export async function assign(
  ctx: Context,
  id: string,
  { assigneeId, onlyIfUnassigned }: { assigneeId: string | null; onlyIfUnassigned: boolean },
): Promise<void> {
  const wanted = assigneeId?.toLowerCase() ?? null
  // Before the conversation, as where a member is removed.
  if (wanted !== null) await holdMember(ctx, wanted)
  const name = wanted === null ? null : await memberName(ctx, wanted)
  if (wanted !== null && name === null) throw refuse('not_found', 'assigneeId: is no member of this store')
  const row = await lockConversation(ctx, id)
  if (onlyIfUnassigned && row.assignee_id !== null && row.assignee_id !== wanted) {
    throw refuse('conflict', `${row.assignee_name} has this conversation already`)
  }
  if (row.assignee_id === wanted) return
  await changeConversation(ctx, id, { assignee_id: wanted, assignee_name: name })
  if (wanted === null || wanted === ctx.actor.userId) return
  await notify(ctx, {
    type: 'inbox-assigned',
    level: 'info',
    title: 'A conversation was assigned to you',
    message: null,
    data: { conversationId: id },
    recipientIds: [wanted],
    dedupeKey: null,
  })
}

/** Nobody removes them until the transaction ends. */
async function holdMember(ctx: Context, userId: string): Promise<void> {
  if (!isId(userId)) return
  await ctx.db
    .selectFrom('memberships')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('removed_at', 'is', null)
    .forShare()
    .execute()
}

/** In the transaction that removes a member: what is open is nobody's; a closed one shows the name until it opens. */
export async function releaseMember(ctx: Context, userId: string): Promise<void> {
  // All of theirs: a closed one may be opening at this very moment.
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

/** Marks as read up to a message (the newest unless said); what arrived unseen after it stays unread. */
export async function markRead(ctx: Context, id: string, upToMessageId: string | undefined): Promise<void> {
  const row = await lockConversation(ctx, id)
  const seen = upToMessageId === undefined ? null : await storedAt(ctx, id, upToMessageId)
  const unseen = seen === null ? 0 : await inboundAfter(ctx, id, seen)
  const unread = Math.min(row.unread_count, unseen)
  if (unread !== row.unread_count) await changeConversation(ctx, id, { unread_count: unread })
  await ctx.queue(inboxReadReceipt, { conversationId: id })
}

/** A message, and when it was stored; refuses one of another conversation. */
function storedAt(ctx: Context, id: string, messageId: string) {
  const stored = ctx.db
    .selectFrom('inbox_messages')
    .select(['id', 'direction', 'created_at'])
    .where('conversation_id', '=', id)
  return oneRow(stored, messageId, 'upToMessageId: is no message of this conversation')
}
type Seen = Awaited<ReturnType<typeof storedAt>>

/** Stored after it. Ids tell the order of those that came in; those of other sections are older than their message. */
async function inboundAfter(ctx: Context, id: string, seen: Seen): Promise<number> {
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

/** Puts one back among the unread ones. Refuses a conversation in which nobody wrote yet. */
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
