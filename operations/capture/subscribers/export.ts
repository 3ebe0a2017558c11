import type { exports } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { type SubscriberFilters, subscriberConditions, subscriberRows } from './subscribers.ts'

const atOnce = 1000

/** Newest first, as the list. */
export const subscribersExport: exports.ExportSource = {
  title: 'Newsletter subscribers',
  columns: () => [
    'email',
    'phone',
    'name',
    'status',
    'source',
    'consent_email',
    'consent_phone',
    'prize',
    'coupon_code',
    'page_url',
    'device',
    'created_at',
    'unsubscribed_at',
  ],
  async *rows(ctx, query) {
    let before: string | null = null
    for (;;) {
      const page = await pageBefore(ctx, query, before)
      yield page.map((row) => [
        row.email,
        row.phone,
        row.name,
        row.status,
        row.source,
        row.consent_email,
        row.consent_phone,
        row.prize_label,
        row.coupon_code,
        row.page_url,
        row.device,
        row.created_at,
        row.unsubscribed_at,
      ])
      before = page.at(-1)?.id ?? null
      if (page.length < atOnce) return
    }
  },
}

function pageBefore(ctx: Context, query: SubscriberFilters, before: string | null) {
  const conditions = subscriberConditions(ctx, query)
  let rows = subscriberRows(ctx.db, conditions as Required<typeof conditions>, (name) => name in conditions)
  if (before) rows = rows.where('s.id', '<', before)
  return rows.selectAll('s').orderBy('s.id', 'desc').limit(atOnce).execute()
}
