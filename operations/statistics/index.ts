/** The section's public API. */
export { orderJson } from './orders/orders.ts'
export { order } from './schema.ts'
