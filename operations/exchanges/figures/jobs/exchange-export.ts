import { sql } from 'kysely'
import { defineExport } from '#operations/store/index'
import { selectMatching } from '#runtime/database/list'
import { exchangeExport } from '../../handles.ts'
import { requests } from '../../requests/requests.ts'
import type { RequestFilters } from '../../requests/schema.ts'

/** Exports requests as CSV with one row per item. */
export default defineExport(exchangeExport, {
  title: 'Exchanges and returns',
  description: 'Emails requests for exchanges and returns as CSV',
  rows: (ctx, query: RequestFilters) =>
    selectMatching(requests, ctx, query).innerJoin('exchange_items as i', 'i.request_id', 'r.id'),
  order: [...requests.order, ['i.position', 'asc']],
  columns: {
    number: 'r.number',
    type: 'r.type',
    status: 'r.status',
    requested_at: 'r.created_at',
    order: 'r.order_number',
    customer: 'r.customer_name',
    email: 'r.customer_email',
    phone: 'r.customer_phone',
    sku: 'i.sku',
    product: 'i.name',
    variant: 'i.variant_name',
    quantity: 'i.quantity',
    approved: 'i.approved_quantity',
    received: 'i.received_quantity',
    reason: 'i.reason_label',
    comment: sql`coalesce(i.comment, r.comment)`,
    unit_price: 'i.unit_price',
    currency: 'r.currency',
    exchange_for: sql`concat_ws(', ', i.exchange_for ->> 'name', nullif(i.exchange_for ->> 'variantName', ''))`,
    refund_method: 'r.refund_method',
    // The refund belongs to the whole request. It is only in the request's first row, so that the column sums correctly.
    refund_amount: sql`case when i.position = 1 then r.refund_amount end`,
    tracking_code: 'r.tracking_code',
    completed_at: 'r.completed_at',
    rejection_reason: 'r.rejection_reason',
  },
})
