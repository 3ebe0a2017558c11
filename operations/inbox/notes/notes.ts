/** Lists, adds and deletes the team's internal notes on a conversation. */
import { sql } from 'kysely'
import { notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { type Paging, preparedList } from '#runtime/database/list'
import { countRows, preparedRow, requireRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { lockConversation, memberName } from '../conversations/conversations.ts'
import { noConversation } from '../conversations/json.ts'

const notesAtMost = 500

const noteJson = (row: string) =>
  jsonObject({
    id: `${row}.id`,
    conversationId: `${row}.conversation_id`,
    text: `${row}.text`,
    mentions: `${row}.mentions`,
    author: jsonObject({ userId: `${row}.author_id`, name: `${row}.author_name` }),
    createdAt: isoInstant(`${row}.created_at`),
  })

const noteList = preparedList<{ conversationId: string }>((db, values) => ({
  rows: db.selectFrom('inbox_notes as n').where('n.conversation_id', '=', values.conversationId),
  item: noteJson('n'),
  order: [['n.id', 'desc']],
}))

const find = preparedRow(noConversation, (db, { id }: { id: string }) =>
  db.selectFrom('conversations').select('id').where('id', '=', id),
)

/** Throws `not_found` for an unknown conversation. */
export async function requireConversation(ctx: Context, id: string): Promise<void> {
  await find(ctx, { id })
}

/** Lists the notes of a conversation, newest first. */
export async function listNotes(ctx: Context, conversationId: string, paging: Paging): Promise<JsonText> {
  await requireConversation(ctx, conversationId)
  return noteList(ctx, { ...paging, conversationId })
}

/**
 * Adds a note and notifies the members that it mentions. Refuses mentions of people who are not members, and more than
 * 500 notes.
 */
export async function addNote(
  ctx: Context,
  conversationId: string,
  input: { text: string; mentions: string[] },
): Promise<JsonText> {
  await lockConversation(ctx, conversationId)
  const mentions = [...new Set(input.mentions.map((each) => each.toLowerCase()))]
  for (const userId of mentions) {
    if ((await memberName(ctx, userId)) === null) {
      throw refuse('not_found', `mentions: ${userId} is no member of this store`)
    }
  }
  const notes = ctx.db.selectFrom('inbox_notes').where('conversation_id', '=', conversationId)
  if ((await countRows(notes)) >= notesAtMost) {
    throw refuse('conflict', `The conversation has ${notesAtMost} notes already`)
  }
  const userId = ctx.actor.userId!
  const values = {
    id: ctx.newId(),
    conversation_id: conversationId,
    text: input.text,
    mentions,
    author_id: userId,
    author_name: (await memberName(ctx, userId)) ?? '',
    created_at: ctx.now(),
  }
  const added = await ctx.db
    .with('made', (db) => db.insertInto('inbox_notes').values(values).returningAll())
    .selectFrom('made')
    .select(sql<string>`${noteJson('made')}::text`.as('text'))
    .executeTakeFirstOrThrow()
  if (mentions.length > 0) {
    await notify(ctx, {
      type: 'inbox-mention',
      level: 'info',
      title: 'You were mentioned in a note',
      message: input.text,
      data: { conversationId },
      recipientIds: mentions,
      dedupeKey: null,
    })
  }
  return new JsonText(added.text)
}

/** Deletes a note. Agents may only delete their own notes; other roles may delete any. */
export async function deleteNote(ctx: Context, id: string): Promise<void> {
  const none = 'There is no such note'
  const note = await requireRow(ctx.db.selectFrom('inbox_notes').select('author_id'), id, none)
  if (ctx.actor.kind === 'key' && ctx.actor.role === 'agent' && note.author_id !== ctx.actor.userId) {
    throw refuse('forbidden', "An agent can delete their own notes only: ask the note's author, or a member")
  }
  await requireRow(ctx.db.deleteFrom('inbox_notes').returning('id'), id, none)
}
