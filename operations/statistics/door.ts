/** What other sections may use of this one. */
export { orderJson } from './orders/orders.ts'
export { order } from './schema.ts'
