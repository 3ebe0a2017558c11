/** Lists conversations: pinned ones first, then by the time of the last message. */

import { type SelectQueryBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { fingerprintFilters, readCursor, writeCursor } from '#runtime/database/cursor'
import { firstInstant } from '#runtime/database/days'
import { foldedLike, phoneLike, toPhonePatterns, toWordsFilter } from '#runtime/database/search'
import { dayMs } from '#runtime/durations'
import { JsonText } from '#runtime/operation'
import { refuseReversedDays } from '#runtime/values/days'
import { isId } from '#runtime/values/ids'
import { extractWords, isTooShortForPrefix, wordsToTsquery } from '../words.ts'
import { conversationJson, conversationRows } from './json.ts'

export interface ConversationFilters {
  status?: 'open' | 'closed' | undefined
  /** A user id, `me` or `none`. */
  assignee?: string | undefined
  /** Ids of tags; a conversation must have at least one of them. */
  tag?: string[] | undefined
  unread?: boolean | undefined
  pinned?: boolean | undefined
  waiting?: boolean | undefined
  windowOpen?: boolean | undefined
  /** A tier's key or `none`. */
  tier?: string | undefined
  search?: string | undefined
  /** Days in the store's time zone; the last message must be from `startDate` to `endDate`. */
  startDate?: string | undefined
  endDate?: string | undefined
  updatedSince?: string | undefined
}

type Rows = SelectQueryBuilder<TenantTables & { c: TenantTables['conversations'] }, 'c', object>

const windowMs = dayMs
/** Minimum length of a phone pattern: four digits between two wildcards. */
const shortestPattern = 6

/** Builds the query of the conversations that match the filters, with the alias `c`. */
export function filterConversations(ctx: Context, filters: ConversationFilters): Rows {
  let rows: Rows = ctx.db.selectFrom('conversations as c')
  const { status, assignee, tag, unread, pinned, waiting, windowOpen, tier, search } = filters
  if (status) rows = rows.where('c.status', '=', status)
  if (assignee === 'none') rows = rows.where('c.assignee_id', 'is', null)
  else if (assignee !== undefined) {
    const userId = assignee === 'me' ? ctx.actor.userId : assignee
    rows = userId && isId(userId) ? rows.where('c.assignee_id', '=', userId) : rows.where(sql.lit(false))
  }
  if (tag) {
    const ids = tag.filter(isId)
    rows = rows.where('c.id', 'in', (eb) =>
      eb
        .selectFrom('inbox_conversation_tags')
        .select('conversation_id')
        .where(sql<boolean>`tag_id = any(${ids}::uuid[])`),
    )
  }
  if (unread !== undefined) rows = rows.where('c.unread_count', unread ? '>' : '=', 0)
  if (pinned !== undefined) rows = rows.where('c.is_pinned', '=', pinned)
  if (waiting !== undefined) rows = rows.where('c.waiting_since', waiting ? 'is not' : 'is', null)
  if (windowOpen !== undefined) {
    const since = new Date(ctx.now().getTime() - windowMs)
    rows = windowOpen
      ? rows.where('c.last_inbound_at', '>', since)
      : rows.where((eb) => eb.or([eb('c.last_inbound_at', 'is', null), eb('c.last_inbound_at', '<=', since)]))
  }
  if (tier === 'none') rows = rows.where('c.tier', 'is', null)
  else if (tier !== undefined) rows = rows.where('c.tier', '=', tier)
  const { startDate, endDate } = filters
  refuseReversedDays({ startDate, endDate })
  const beginOf = (day: string, more: number) =>
    firstInstant(sql`(${day}::date + ${sql.lit(more)})`, sql`${ctx.store.timezone}::text`)
  if (startDate) rows = rows.where('c.last_message_at', '>=', beginOf(startDate, 0))
  if (endDate) rows = rows.where('c.last_message_at', '<', beginOf(endDate, 1))
  if (filters.updatedSince) rows = rows.where('c.updated_at', '>=', new Date(filters.updatedSince))
  if (search !== undefined) rows = applySearch(ctx, rows, search)
  return rows
}

/** Adds the search to the query: it finds parts of the name, digits of the phone, or words that occur in one message. */
function applySearch(ctx: Context, rows: Rows, search: string): Rows {
  const digits = toPhonePatterns(search, ctx.store.country) ?? []
  const isPhone = digits.length > 0 && digits[0]!.length >= shortestPattern
  const named = conversationRows(ctx.db)
    .select('c.id')
    .where(foldedLike(sql.ref('k.search_text'), toWordsFilter(search).search))
  const called = conversationRows(ctx.db)
    .select('c.id')
    .where(phoneLike('k.phone', digits))
    .where('k.phone', 'like', '+%')
  const written = findByWords(ctx, extractWords(search))
  // UNION instead of `or`, so that each part uses its own index. UNION instead of UNION ALL, because PostgreSQL estimates
  // its row count better.
  let found: SelectQueryBuilder<TenantTables, never, { id: string }> = named as never
  if (isPhone) found = found.union(called as never)
  if (written) found = found.union(written as never)
  return rows.where('c.id', 'in', found as never)
}

/** Selects the conversations with a message that contains all these words. */
function findByWords(ctx: Context, words: readonly string[]) {
  const [word] = words
  if (word === undefined) return null
  if (words.length > 1) {
    return ctx.db
      .selectFrom('inbox_message_words as m')
      .select('m.conversation_id as id')
      .where(sql<boolean>`m.words @@ ${wordsToTsquery(words)}::tsquery`)
  }
  const own = ctx.db.selectFrom('inbox_conversation_words as w').select('w.conversation_id as id')
  if (isTooShortForPrefix(word)) return own.where('w.word', '=', word)
  return own.where('w.word', '>=', word).where('w.word', '<', `${word}\u{10ffff}`)
}

export interface Walk {
  page: number
  limit: number
  cursor?: string | undefined
}

interface SortKey {
  id: string
  is_pinned: boolean
  last_message_at: Date
}

/** Returns `{ data, page, limit, total, nextCursor }`. With a cursor `page` is null. `total` is exact. */
export async function listConversations(
  ctx: Context,
  filters: ConversationFilters,
  { page, limit, cursor }: Walk,
): Promise<JsonText> {
  const fingerprint = fingerprintFilters(filters)
  const placed = filterConversations(ctx, filters).select(['c.id', 'c.is_pinned', 'c.last_message_at'])
  // The result of an expensive filter is materialized, so that the page and the total use the same evaluation.
  const isCostly = filters.search !== undefined || filters.tier !== undefined
  const found = ctx.db.with(
    (cte) => cte('found').materialized(),
    () => placed,
  )
  const all = isCostly ? ctx.db.selectFrom(sql<SortKey>`found`.as('c')) : ctx.db.selectFrom(placed.as('c'))
  let places = all.select(['c.id', 'c.is_pinned', 'c.last_message_at'])
  if (cursor !== undefined) {
    const [pinned, at, id] = readCursor(cursor, fingerprint, 3)
    places = places.where(
      sql<boolean>`(c.is_pinned, c.last_message_at, c.id) <
        (${pinned === 'true'}::boolean, ${at}::timestamptz, ${id}::uuid)`,
    )
  }
  places = places
    .orderBy('c.is_pinned', 'desc')
    .orderBy('c.last_message_at', 'desc')
    .orderBy('c.id', 'desc')
    .limit(limit + 1)
  if (cursor === undefined) places = places.offset((page - 1) * limit)
  // One extra row shows whether there is a next page.
  const shown = ctx.db
    .selectFrom(places.as('p'))
    .innerJoin('conversations as c', 'c.id', 'p.id')
    .innerJoin('contacts as k', 'k.id', 'c.contact_id')
    .select([
      sql<string>`${conversationJson(ctx.db, ctx.now())}::text`.as('item'),
      'c.id',
      'c.is_pinned',
      sql<string>`c.last_message_at::text`.as('at'),
    ])
    .orderBy('c.is_pinned', 'desc')
    .orderBy('c.last_message_at', 'desc')
    .orderBy('c.id', 'desc')
  const counted = all.select((eb) => eb.fn.countAll<number>().as('n'))
  const { items, total } = await (isCostly ? found : ctx.db)
    .selectNoFrom([
      sql<{ item: string; id: string; is_pinned: boolean; at: string }[]>`(${ctx.db
        .selectFrom(shown.as('s'))
        .select(
          sql`coalesce(json_agg(json_build_array(s.item, s.id, s.is_pinned, s.at)), '[]')`.as('json'),
        )})`.as('items'),
      sql<number>`(${counted})`.as('total'),
    ])
    .executeTakeFirstOrThrow()
  const rows = items as unknown as [string, string, boolean, string][]
  const last = rows.length > limit ? rows[limit - 1]! : null
  const next = last ? writeCursor(fingerprint, [String(last[2]), last[3], last[1]]) : null
  const data = rows.slice(0, limit).map(([item]) => item)
  return new JsonText(
    `{"data":[${data.join(',')}],"page":${cursor === undefined ? page : 'null'},"limit":${limit},` +
      `"total":${total},"nextCursor":${JSON.stringify(next)}}`,
  )
}
