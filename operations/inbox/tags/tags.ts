/** The team's tags, and which conversations carry them. */
import { type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { instantOf, jsonObject } from '#runtime/database/json'
import { prepared } from '#runtime/database/query'
import { isDuplicate, refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { isId } from '#runtime/values/ids'
import { changeConversation, lockAll, lockConversation } from '../conversations/conversations.ts'

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
    createdAt: instantOf('t.created_at'),
    updatedAt: instantOf('t.updated_at'),
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

/** Every tag, by name. */
export async function listTags(ctx: Context): Promise<JsonText> {
  const [row] = await all(ctx, {})
  return new JsonText(row!.text)
}

const byId = prepared((db, values: { id: string }) =>
  db
    .selectFrom('inbox_tags as t')
    .select(sql<string>`${tagJson(db)}::text`.as('text'))
    .where('t.id', '=', values.id),
)

const noTag = () => refuse('not_found', 'There is no such tag')

export async function readTag(ctx: Context, id: string): Promise<JsonText> {
  const [row] = await byId(ctx, { id })
  if (!row) throw noTag()
  return new JsonText(row.text)
}

const taken = (name: string) => refuse('conflict', `name: there is a tag ${name} already`)
const isTaken = (error: unknown): boolean => isDuplicate(error, 'inbox_tags_name')

/** Inner spaces are one. */
const collapsed = (name: string): string => name.replace(/\s+/g, ' ')

/** Refuses a name that is taken, without case, and the 101st tag. */
export async function createTag(ctx: Context, input: { name: string; color: string }): Promise<JsonText> {
  await ctx.lockStore()
  const { count } = await ctx.db
    .selectFrom('inbox_tags')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (count >= tagsAtMost) throw refuse('conflict', `There are ${tagsAtMost} tags already: delete one first`)
  const id = ctx.newId()
  const name = collapsed(input.name)
  const now = ctx.now()
  try {
    await ctx.db
      .insertInto('inbox_tags')
      .values({ id, name, color: input.color, created_at: now, updated_at: now })
      .execute()
  } catch (error) {
    throw isTaken(error) ? taken(name) : error
  }
  return readTag(ctx, id)
}

/** Shown at once on every conversation; who asks what changed since is told of them. */
export async function changeTag(
  ctx: Context,
  id: string,
  input: { name?: string | undefined; color?: string | undefined },
): Promise<JsonText> {
  if (!isId(id)) throw noTag()
  const name = input.name === undefined ? undefined : collapsed(input.name)
  const change = { ...(name === undefined ? {} : { name }), ...(input.color ? { color: input.color } : {}) }
  try {
    const changed = await ctx.db
      .updateTable('inbox_tags')
      .set({ ...change, updated_at: ctx.now() })
      .where('id', '=', id)
      .where((eb) =>
        eb.or([
          eb('name', 'is distinct from', name ?? eb.ref('name')),
          eb('color', 'is distinct from', input.color ?? eb.ref('color')),
        ]),
      )
      .returning('id')
      .executeTakeFirst()
    if (changed) await touchTagged(ctx, id)
  } catch (error) {
    throw isTaken(error) ? taken(name!) : error
  }
  return readTag(ctx, id)
}

/** Takes it off every conversation with it. */
export async function deleteTag(ctx: Context, id: string): Promise<void> {
  if (!isId(id)) throw noTag()
  // Locked before it is looked for: nobody puts it on one more conversation meanwhile.
  await ctx.db.selectFrom('inbox_tags').select('id').where('id', '=', id).forUpdate().execute()
  await touchTagged(ctx, id)
  const { numDeletedRows } = await ctx.db.deleteFrom('inbox_tags').where('id', '=', id).executeTakeFirst()
  if (numDeletedRows === 0n) throw noTag()
}

async function touchTagged(ctx: Context, tagId: string): Promise<void> {
  const carries = sql<boolean>`id in (${ctx.db
    .selectFrom('inbox_conversation_tags')
    .select('conversation_id')
    .where('tag_id', '=', tagId)})`
  await lockAll(ctx, carries)
  await ctx.db.updateTable('conversations').set({ updated_at: ctx.now() }).where(carries).execute()
}

/** Refuses an unknown tag and the 21st of a conversation; one that it has already changes nothing. */
export async function addTag(ctx: Context, conversationId: string, tagId: string): Promise<void> {
  const tag = isId(tagId)
    ? await ctx.db
        .selectFrom('inbox_tags')
        .select('id')
        .where('id', '=', tagId)
        .forKeyShare()
        .executeTakeFirst()
    : undefined
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

/** Refuses a tag that the conversation does not have. */
export async function removeTag(ctx: Context, conversationId: string, tagId: string): Promise<void> {
  await lockConversation(ctx, conversationId)
  const removed = isId(tagId)
    ? await ctx.db
        .deleteFrom('inbox_conversation_tags')
        .where('conversation_id', '=', conversationId)
        .where('tag_id', '=', tagId)
        .executeTakeFirst()
    : undefined
  if (!removed?.numDeletedRows) throw refuse('not_found', 'The conversation does not have this tag')
  await changeConversation(ctx, conversationId, {})
}
