/** Who the popup and the form caught: listed newest first. */
import type { Kysely } from 'kysely'
import type { TenantTables } from '#db/tables'
import { days } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { instantOf, jsonObject } from '#runtime/database/json'
import { pagesOf } from '#runtime/database/list'
import { isFound, type Sought, sought } from '#runtime/database/search'
import { given } from '#runtime/values/changes'

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
    at: instantOf('s.consent_at'),
  }),
  prizeLabel: 's.prize_label',
  couponCode: 's.coupon_code',
  couponStatus: 's.coupon_status',
  pageUrl: 's.page_url',
  device: 's.device',
  mailproviderStatus: 's.mailprovider_status',
  mailproviderSyncedAt: instantOf('s.mailprovider_synced_at'),
  unsubscribedAt: instantOf('s.unsubscribed_at'),
  createdAt: instantOf('s.created_at'),
  updatedAt: instantOf('s.updated_at'),
})

export interface SubscriberFilters extends days.AskedDays {
  search?: string | undefined
  status?: string | undefined
}

type Conditions = Sought & days.GivenDays & { status?: string }

/** Newest first. Refuses days that are turned around. */
export const subscribers = {
  filters: (ctx: Context, { search, status, ...range }: SubscriberFilters): Conditions => ({
    ...sought(ctx, search),
    ...given({ status }),
    ...days.givenDays(ctx, range),
  }),
  rows(db: Kysely<TenantTables>, values: Required<Conditions>, has: (name: keyof Conditions) => boolean) {
    let rows = db.selectFrom('newsletter_subscribers as s')
    if (has('status')) rows = rows.where('s.status', '=', values.status)
    if (has('startDate')) rows = rows.where(days.isWithin('s.created_at', values))
    if (has('search')) rows = rows.where(isFound(['s.name', 's.email'], 's.phone', values, has))
    return rows
  },
  order: [['s.id', 'desc']],
} as const

/** A page of the subscribers. */
export const listSubscribers = pagesOf(
  subscribers,
  () => ({ item: subscriberJson, page: 's', table: 'newsletter_subscribers' }),
  { text: ['search'] },
)
