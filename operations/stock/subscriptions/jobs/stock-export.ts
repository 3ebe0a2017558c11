import { defineExport } from '#operations/store/index'
import { selectMatching } from '#runtime/database/list'
import { stockExport } from '../../handles.ts'
import type { SubscriptionQuery } from '../../subscription-schema.ts'
import { orders, subscriptions } from '../subscriptions.ts'

export default defineExport(stockExport, {
  title: 'Stock alerts',
  description: 'Emails the subscriptions of stock alerts as CSV',
  rows: (ctx, query: SubscriptionQuery) => selectMatching(subscriptions, ctx, query),
  order: ({ sort }) => orders[sort],
  columns: {
    id: 's.id',
    product_id: 's.product_id',
    variant_id: 's.variant_id',
    product: 's.product_name',
    variant: 's.variant_name',
    sku: 's.sku',
    channel: 's.channel',
    email: 's.email',
    phone: 's.phone',
    name: 's.name',
    status: 's.status',
    created_at: 's.created_at',
    sent_at: 's.sent_at',
    converted_at: 's.converted_at',
  },
})
