/** Manages the team's tags, and adds them to conversations. */
import { type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { prepared } from '#runtime/database/query'
import { findRow, preparedOne, refuseDuplicate, requireCapacity, requireRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { changeConversation, lockConversation, lockConversations } from '../conversations/conversations.ts'

const tagsAtMost = 100
const onConversationAtMost = 20

const tagJson = (db: Kysely<TenantTables>) =>
  jsonObject({
    id: 't.id',
    name: 't.name',
    color: 't.color',
    conversationCount: sql`(${db
      .selectFrom('inbox_conversation_tags as ct')
      .select((eb) => eb.fn.countAll().as('n'))
      .where('ct.tag_id', '=', sql.ref<string>('t.id'))})`,
    createdAt: isoInstant('t.created_at'),
    updatedAt: isoInstant('t.updated_at'),
  })

const all = prepared((db) =>
  db
    .selectFrom('inbox_tags as t')
    .select(
      sql<string>`'{"data":' || coalesce(json_agg(${tagJson(db)} order by lower(t.name), t.id)::text, '[]') || '}'`.as(
        'text',
      ),
    ),
)

/** Lists all tags, sorted by name. */
export async function listTags(ctx: Context): Promise<JsonText> {
  const [row] = await all(ctx, {})
  return new JsonText(row!.text)
}

const noTag = 'There is no such tag'

export const readTag = preparedOne(noTag, (db, { id }) => ({
  rows: db.selectFrom('inbox_tags as t').where('t.id', '=', id),
  item: tagJson(db),
}))

const unlessNameTaken = <T>(name: string, write: () => Promise<T>): Promise<T> =>
  refuseDuplicate('inbox_tags_name', `name: there is a tag ${name} already`, write)

/** Replaces several spaces in a row by one. */
const collapseSpaces = (name: string): string => name.replace(/\s+/g, ' ')

/** Creates a tag. Refuses a name in use, case-insensitive, and more than 100 tags. */
export async function createTag(ctx: Context, input: { name: string; color: string }): Promise<JsonText> {
  const full = `There are ${tagsAtMost} tags already: delete one first`
  await requireCapacity(ctx, ctx.db.selectFrom('inbox_tags'), tagsAtMost, full)
  const id = ctx.newId()
  const name = collapseSpaces(input.name)
  const now = ctx.now()
  await unlessNameTaken(name, () =>
    ctx.db
      .insertInto('inbox_tags')
      .values({ id, name, color: input.color, created_at: now, updated_at: now })
      .execute(),
  )
  return readTag(ctx, id)
}

/** Changes a tag. Also sets `updated_at` of every conversation with the tag, because they show it. */
export async function changeTag(
  ctx: Context,
  id: string,
  input: { name?: string | undefined; color?: string | undefined },
): Promise<JsonText> {
  const name = input.name === undefined ? undefined : collapseSpaces(input.name)
  const change = { ...(name === undefined ? {} : { name }), ...(input.color ? { color: input.color } : {}) }
  const differs = ctx.db
    .updateTable('inbox_tags')
    .set({ ...change, updated_at: ctx.now() })
    .where((eb) =>
      eb.or([
        eb('name', 'is distinct from', name ?? eb.ref('name')),
        eb('color', 'is distinct from', input.color ?? eb.ref('color')),
      ]),
    )
    .returning('id')
  if (await unlessNameTaken(name!, () => findRow(differs, id))) await touchTagged(ctx, id)
  return readTag(ctx, id)
}

/** Deletes a tag, and removes it from all conversations. */
export async function deleteTag(ctx: Context, id: string): Promise<void> {
  // Locks the tag first, so that it cannot be added to another conversation in the meantime.
  await requireRow(ctx.db.selectFrom('inbox_tags').select('id').forUpdate(), id, noTag)
  await touchTagged(ctx, id)
  await ctx.db.deleteFrom('inbox_tags').where('id', '=', id).execute()
}

async function touchTagged(ctx: Context, tagId: string): Promise<void> {
  const carries = sql<boolean>`id in (${ctx.db
    .selectFrom('inbox_conversation_tags')
    .select('conversation_id')
    .where('tag_id', '=', tagId)})`
  await lockConversations(ctx, carries)
  await ctx.db.updateTable('conversations').set({ updated_at: ctx.now() }).where(carries).execute()
}

/**
 * Adds a tag to a conversation. A tag that it already has changes nothing. Refuses an unknown tag, and more than 20
 * tags.
 */
export async function addTag(ctx: Context, conversationId: string, tagId: string): Promise<void> {
  const tag = await findRow(ctx.db.selectFrom('inbox_tags').select('id').forKeyShare(), tagId)
  await lockConversation(ctx, conversationId)
  if (!tag) throw refuse('not_found', 'tagId: there is no such tag')
  const present = await ctx.db
    .selectFrom('inbox_conversation_tags')
    .select('tag_id')
    .where('conversation_id', '=', conversationId)
    .execute()
  if (present.some(({ tag_id }) => tag_id === tag.id)) return
  if (present.length >= onConversationAtMost) {
    throw refuse('conflict', `The conversation has ${onConversationAtMost} tags already: take one off first`)
  }
  await ctx.db
    .insertInto('inbox_conversation_tags')
    .values({ conversation_id: conversationId, tag_id: tag.id, created_at: ctx.now() })
    .execute()
  await changeConversation(ctx, conversationId, {})
}

/** Removes a tag from a conversation. Refuses a tag that the conversation does not have. */
export async function removeTag(ctx: Context, conversationId: string, tagId: string): Promise<void> {
  await lockConversation(ctx, conversationId)
  const removed = ctx.db
    .deleteFrom('inbox_conversation_tags')
    .where('conversation_id', '=', conversationId)
    .returning('tag_id')
  await requireRow(removed, tagId, 'The conversation does not have this tag', 'tag_id')
  await changeConversation(ctx, conversationId, {})
}
