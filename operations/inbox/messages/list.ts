/** Lists the messages of a conversation, newest first. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { fingerprintFilters, readCursor, writeCursor } from '#runtime/database/cursor'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { isId } from '#runtime/values/ids'
import { conversationJson, conversationRows, noConversation } from '../conversations/json.ts'
import type { Walk } from '../conversations/list.ts'
import type { MediaRow } from '../receiving/inbound.ts'
import type { conversation, message } from '../schema.ts'
import { searchToTsquery } from '../words.ts'
import { messageJson, signMedia } from './json.ts'

export interface MessageFilters {
  direction?: 'inbound' | 'outbound' | undefined
  type?: string[] | undefined
  search?: string | undefined
  updatedSince?: string | undefined
}

type Stored = Omit<z.infer<typeof message>, 'media'> & { media: MediaRow | null }

/**
 * Returns `{ data, page, limit, total, nextCursor, conversation }`. Does not mark the messages as read. Refuses an unknown
 * conversation.
 */
export async function listMessages(
  ctx: Context,
  conversationId: string,
  filters: MessageFilters,
  { page, limit, cursor }: Walk,
) {
  if (!isId(conversationId)) throw refuse('not_found', noConversation)
  const fingerprint = fingerprintFilters({ ...filters, conversationId })
  const { direction, type, search, updatedSince } = filters
  let all = ctx.db.selectFrom('inbox_messages as m').where('m.conversation_id', '=', conversationId)
  if (direction) all = all.where('m.direction', '=', direction)
  if (type) all = all.where(sql<boolean>`m.type = any(${type}::text[])`)
  if (updatedSince) all = all.where('m.updated_at', '>=', new Date(updatedSince))
  if (search !== undefined) {
    const query = searchToTsquery(search)
    all = all.where('m.id', 'in', (eb) =>
      eb
        .selectFrom('inbox_message_words as w')
        .select('w.message_id')
        .where('w.conversation_id', '=', conversationId)
        .where(query === null ? sql.lit(false) : sql<boolean>`w.words @@ ${query}::tsquery`),
    )
  }
  // One extra row shows whether there is a next page. This query selects only ids, so that no JSON is built for rows
  // that the offset skips.
  let places = all
    .select(['m.id', 'm.occurred_at'])
    .orderBy('m.occurred_at', 'desc')
    .orderBy('m.id', 'desc')
    .limit(limit + 1)
  if (cursor === undefined) places = places.offset((page - 1) * limit)
  else {
    const [at, id] = readCursor(cursor, fingerprint, 2)
    places = places.where(sql<boolean>`(m.occurred_at, m.id) < (${at}::timestamptz, ${id}::uuid)`)
  }
  const rows = ctx.db
    .selectFrom(places.as('p'))
    .innerJoin('inbox_messages as m', 'm.id', 'p.id')
    .select([messageJson('m').as('item'), 'm.id', sql<string>`m.occurred_at::text`.as('at')])
    .orderBy('p.occurred_at', 'desc')
    .orderBy('p.id', 'desc')
  const of = conversationRows(ctx.db)
    .select(conversationJson(ctx.db, ctx.now()).as('json'))
    .where('c.id', '=', conversationId)
  const found = await ctx.db
    .selectNoFrom([
      sql<z.infer<typeof conversation> | null>`(${of})`.as('conversation'),
      sql<[Stored, string, string][]>`(${ctx.db
        .selectFrom(rows.as('r'))
        .select(sql`coalesce(json_agg(json_build_array(r.item, r.id, r.at)), '[]')`.as('json'))})`.as(
        'items',
      ),
      sql<number>`(${all.select((eb) => eb.fn.countAll().as('n'))})`.as('total'),
    ])
    .executeTakeFirstOrThrow()
  if (!found.conversation) throw refuse('not_found', noConversation)
  const last = found.items.length > limit ? found.items[limit - 1]! : null
  const shown = found.items.slice(0, limit).map(([item]) => item)
  return {
    data: await Promise.all(shown.map((each) => signMedia(ctx, each))),
    page: cursor === undefined ? page : null,
    limit,
    total: Number(found.total),
    nextCursor: last && writeCursor(fingerprint, [last[2], last[1]]),
    conversation: found.conversation,
  }
}
