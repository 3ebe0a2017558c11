import { section } from '#runtime/operation'

export default section({
  title: 'Statistics and conversions',
  description:
    'What the messages brought back, in money: conversions by source, day and product, beside everything that was sent, and the orders of the platform as they are mirrored here.',
  position: 3,
  order: [
    'get_statistics_export',
    'get_statistics',
    'get_statistics_products',
    'get_conversions',
    'get_conversions_summary',
    'get_conversions_recovered_total',
    'get_conversions_export',
    'get_analytics_orders',
  ],
})
