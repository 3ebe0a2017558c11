/** Subscribers of the popup and the contact form: list and export. */
import type { Kysely } from 'kysely'
import type { TenantTables } from '#db/tables'
import { days } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { preparedPages } from '#runtime/database/list'
import { matchesSearch, type SearchFilter, toSearchFilter } from '#runtime/database/search'
import { omitUndefined } from '#runtime/values/changes'

const subscriberJson = jsonObject({
  id: 's.id',
  email: 's.email',
  phone: 's.phone',
  name: 's.name',
  status: 's.status',
  source: 's.source',
  consent: jsonObject({
    email: 's.consent_email',
    phone: 's.consent_phone',
    text: 's.consent_text',
    at: isoInstant('s.consent_at'),
  }),
  prizeLabel: 's.prize_label',
  couponCode: 's.coupon_code',
  couponStatus: 's.coupon_status',
  pageUrl: 's.page_url',
  device: 's.device',
  mailproviderStatus: 's.mailprovider_status',
  mailproviderSyncedAt: isoInstant('s.mailprovider_synced_at'),
  unsubscribedAt: isoInstant('s.unsubscribed_at'),
  createdAt: isoInstant('s.created_at'),
  updatedAt: isoInstant('s.updated_at'),
})

export interface SubscriberFilters extends days.DayRangeQuery {
  search?: string | undefined
  status?: string | undefined
}

type Conditions = SearchFilter & days.DayFilter & { status?: string }

/** The selection for list and export, newest first. Refuses a start date after the end date. */
export const subscribers = {
  filters: (ctx: Context, { search, status, ...range }: SubscriberFilters): Conditions => ({
    ...toSearchFilter(ctx, search),
    ...omitUndefined({ status }),
    ...days.toDayFilter(ctx, range),
  }),
  rows(db: Kysely<TenantTables>, values: Required<Conditions>, has: (name: keyof Conditions) => boolean) {
    let rows = db.selectFrom('newsletter_subscribers as s')
    if (has('status')) rows = rows.where('s.status', '=', values.status)
    if (has('startDate')) rows = rows.where(days.isWithin('s.created_at', values))
    if (has('search')) rows = rows.where(matchesSearch(['s.name', 's.email'], 's.phone', values, has))
    return rows
  },
  order: [['s.id', 'desc']],
} as const

/** A page of subscribers. */
export const listSubscribers = preparedPages(
  subscribers,
  () => ({ item: subscriberJson, page: 's', table: 'newsletter_subscribers' }),
  { text: ['search'] },
)
