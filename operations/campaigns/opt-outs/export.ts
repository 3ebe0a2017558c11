import { optOuts } from '#operations/messaging/door'
import type { exports } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { phoneLike } from '#runtime/database/search'

const atOnce = 1000

/** Newest first, as the list. */
export const optOutsExport: exports.ExportSource = {
  title: 'Opt-outs',
  columns: () => ['phone', 'source', 'note', 'campaign', 'created_at'],
  async *rows(ctx, query) {
    const filters = query as optOuts.OptOutFilters
    let before: string | null = null
    for (;;) {
      const page = await pageBefore(ctx, filters, before)
      yield page.map((row) => [row.phone, row.source, row.note, row.campaign, row.created_at])
      before = page.at(-1)?.id ?? null
      if (page.length < atOnce) return
    }
  },
}

function pageBefore(ctx: Context, filters: optOuts.OptOutFilters, before: string | null) {
  const { search, source } = optOuts.conditionsOf(ctx, filters)
  let rows = ctx.db
    .selectFrom('opt_outs as o')
    .leftJoin('campaigns as c', 'c.id', 'o.campaign_id')
    .select(['o.id', 'o.phone', 'o.source', 'o.note', 'o.created_at', 'c.name as campaign'])
  if (source) rows = rows.where('o.source', '=', source)
  if (search) rows = rows.where(phoneLike('o.phone', search))
  if (before) rows = rows.where('o.id', '<', before)
  return rows.orderBy('o.id', 'desc').limit(atOnce).execute()
}
