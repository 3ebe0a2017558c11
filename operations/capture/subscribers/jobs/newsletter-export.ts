import { defineExport } from '#operations/store/index'
import { selectMatching } from '#runtime/database/list'
import { newsletterExport } from '../../handles.ts'
import { type SubscriberFilters, subscribers } from '../subscribers.ts'

export default defineExport(newsletterExport, {
  title: 'Newsletter subscribers',
  description: 'Emails the newsletter subscribers as CSV',
  rows: (ctx, query: SubscriberFilters) => selectMatching(subscribers, ctx, query),
  order: subscribers.order,
  columns: {
    email: 's.email',
    phone: 's.phone',
    name: 's.name',
    status: 's.status',
    source: 's.source',
    consent_email: 's.consent_email',
    consent_phone: 's.consent_phone',
    prize: 's.prize_label',
    coupon_code: 's.coupon_code',
    page_url: 's.page_url',
    device: 's.device',
    created_at: 's.created_at',
    unsubscribed_at: 's.unsubscribed_at',
  },
})
