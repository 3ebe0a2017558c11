/** Reads one request, or a page of them. */
import { type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { days } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { preparedPages } from '#runtime/database/list'
import { preparedOne } from '#runtime/database/rows'
import { foldedLike, phoneLike, type SearchFilter, toSearchFilter } from '#runtime/database/search'
import { JsonText } from '#runtime/operation'
import { omitUndefined } from '#runtime/values/changes'
import { entryJson, requestJson } from './json.ts'
import type { RequestFilters } from './schema.ts'
import { noRequest } from './transitions.ts'

const findRequest = preparedOne(noRequest, (db, { id }) => ({
  rows: db.selectFrom('exchange_requests as r').where('r.id', '=', id),
  item: requestJson(db),
}))

const signedSeconds = 3600

/** Reads one request, with photo URLs that are signed for an hour. Refuses (404) an unknown id. */
export async function readRequest(ctx: Context, id: string): Promise<JsonText> {
  const stored = await findRequest(ctx, id)
  const { text } = stored
  const request = JSON.parse(text) as { photos: { url: string }[] }
  if (request.photos.length === 0) return stored
  const photos = await Promise.all(
    request.photos.map(async (photo) => ({
      ...photo,
      url: (await ctx.adapters.storage.signDownload(photo.url, signedSeconds)).url,
    })),
  )
  return new JsonText(JSON.stringify({ ...request, photos }), undefined, text)
}

/** Filters as parameters of the prepared statements. */
interface PreparedFilters extends SearchFilter, days.DayFilter {
  /** Set instead of `statuses` for a single status, the common case: an index returns its rows in order. */
  status?: string
  statuses?: readonly string[]
  type?: string
  reasons?: readonly string[]
  outsideWindow?: boolean
}

/** The selection for list and export, newest first. Refuses a start day after the end day. */
export const requests = {
  filters(ctx: Context, filters: RequestFilters): PreparedFilters {
    const { status, type, reason, outsideWindow, search } = filters
    const statuses = [...new Set(status)]
    return {
      ...(statuses.length === 1 ? { status: statuses[0]! } : {}),
      ...(statuses.length > 1 ? { statuses } : {}),
      ...omitUndefined({ type, reasons: reason, outsideWindow }),
      ...toSearchFilter(ctx, search),
      ...days.toDayFilter(ctx, filters),
    }
  },
  rows(
    db: Kysely<TenantTables>,
    values: Required<PreparedFilters>,
    has: (name: keyof PreparedFilters) => boolean,
  ) {
    let found = db.selectFrom('exchange_requests as r')
    if (has('status')) found = found.where('r.status', '=', values.status)
    if (has('statuses')) found = found.where(sql<boolean>`r.status = any(${values.statuses}::text[])`)
    if (has('type')) found = found.where('r.type', '=', values.type)
    if (has('reasons')) found = found.where(sql<boolean>`r.reasons && ${values.reasons}::text[]`)
    if (has('outsideWindow')) {
      found = found.where(sql<boolean>`r.outside_window = ${values.outsideWindow}::boolean`)
    }
    if (has('search')) {
      const byDigits = has('digits') ? sql`or ${phoneLike('r.search_text', values.digits)}` : sql``
      found = found.where(sql<boolean>`(${foldedLike(sql.ref('r.search_text'), values.search)} ${byDigits})`)
    }
    if (has('startDate')) found = found.where(days.isWithinDays('r.created_at', values))
    return found
  },
  order: [
    ['r.created_at', 'desc'],
    ['r.id', 'desc'],
  ],
} as const

/** A page of the requests. */
export const listRequests = preparedPages(
  requests,
  (db) => ({ item: entryJson(db), page: 'r', table: 'exchange_requests' }),
  { text: ['search'] },
)
