import { sql } from 'kysely'
import { defineExport } from '#operations/store/index'
import { selectMatching } from '#runtime/database/list'
import { conversionsExport } from '../../handles.ts'
import { type ConversionFilters, conversions } from '../conversions.ts'

export default defineExport(conversionsExport, {
  title: 'Conversions',
  description: 'Emails conversions as CSV',
  rows: (ctx, query: ConversionFilters) => selectMatching(conversions, ctx, query),
  order: conversions.order,
  columns: {
    order_number: 'c.order_number',
    placed_at: 'c.placed_at',
    status: 'c.status',
    source_type: 'c.source_type',
    source_name: 'c.source_name',
    channel: 'c.channel',
    customer_name: sql`c.customer ->> 'name'`,
    customer_email: sql`c.customer ->> 'email'`,
    customer_phone: sql`c.customer ->> 'phone'`,
    products: (db) =>
      db
        .selectFrom('conversion_items as i')
        .select(sql<string>`string_agg(i.quantity || '× ' || i.name, ', ' order by i.position)`.as('names'))
        .where('i.conversion_id', '=', sql.ref<string>('c.id')),
    currency: 'c.currency',
    order_total: 'c.order_total',
    refunded: 'c.refunded_total',
    revenue: 'c.revenue',
    coupon: 'c.coupon_code',
    touched_at: 'c.touched_at',
  },
})
