/** What other sections may use of this one. */

export { notify } from '#operations/notifications/door'
export * as days from '#runtime/database/days'
export { columnsOf, excludedColumns, isAmong, recordset } from '#runtime/database/recordset'
export { escaped, htmlAnswer } from '#runtime/values/html'
export * as amounts from '#runtime/values/money'
export type { Connected } from './connections/connections.ts'
export * as connections from './connections/connections.ts'
export * as coupons from './connections/coupons.ts'
export * as attribution from './conversions/attribution.ts'
export * as home from './dashboard/home-parts.ts'
export { type Ancestry, ancestryOf } from './ecommerce/ancestry.ts'
export { type DiscountSpec, discountHash, type LiveDiscount } from './ecommerce/discounts.ts'
export { keptProduct } from './ecommerce/kept.ts'
export type {
  Cart,
  Category,
  CouponSpec,
  EcommercePort,
  PlatformCustomer,
  PlatformOrder,
  Product,
  ProductQuery,
  ProductVariant,
} from './ecommerce/port.ts'
export { putCart } from './ecommerce/sandbox-carts.ts'
export { heldDiscounts } from './ecommerce/sandbox-discounts.ts'
export { changeProduct } from './ecommerce/sandbox-product-change.ts'
export { quoteCart } from './ecommerce/sandbox-quote.ts'
export { setStock } from './ecommerce/sandbox-stock.ts'
export { cartDeliveries, deliveriesOf } from './ecommerce/sandbox-webhooks.ts'
export { byteOrderMark, csvOf } from './files/csv.ts'
export { exportJob, exportOf, exportSource } from './files/export-of.ts'
export * as exports from './files/exports.ts'
export * as files from './files/files.ts'
export { type Forgets, type Forgotten, isTheirs, namesThem, withoutThem } from './forgotten.ts'
export * as health from './health/health.ts'
export * as imports from './imports/imports.ts'
export * as childKeys from './keys/children.ts'
export * as orders from './orders/orders.ts'
export { catchUp as catchUpOrders } from './orders/reading.ts'
export {
  canWriteAt,
  featureSet,
  type PlanCurrency,
  paidPlans,
  pausedLastsMs,
  planCurrency,
  planIdAt,
  planOf,
  plans,
  type SubscriptionStatus,
  statusAt,
} from './plans.ts'
export { isTimezone } from './profile/locality.ts'
export * as stores from './profile/stores.ts'
export * as events from './provider-events/accept.ts'
export { applyEvents } from './provider-events/apply.ts'
export { takeEvents } from './provider-events/take.ts'
export * as cycles from './quota/cycles.ts'
export { entitlementChanged, entitlementOf, mayUse } from './quota/entitlement.ts'
export { type MessageSource, messageSources } from './quota/ledger.ts'
export * as metering from './quota/metering.ts'
export * as periods from './quota/periods.ts'
export { asBadRequest, deliver, requireStoreId, sandboxShop } from './sandbox/shop.ts'
export { isCountedConversion, isCountedOrder, sourceTypes } from './sums/counted.ts'
export { areSummed, rebuildDays } from './sums/rebuild-days.ts'
export * as members from './team/members.ts'
