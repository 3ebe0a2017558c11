/** The section's public API. */

export { notify } from '#operations/notifications/index'
export * as days from '#runtime/database/days'
export { columnNames, excludedColumns, isAmong, recordset } from '#runtime/database/recordset'
export { answerHtml, escapeHtml } from '#runtime/values/html'
export * as amounts from '#runtime/values/money'
export type { Connected } from './connections/connections.ts'
export * as connections from './connections/connections.ts'
export * as coupons from './connections/coupons.ts'
export { noteMissed, storesToSync } from './connections/sync-schedule.ts'
export * as attribution from './conversions/attribution.ts'
export * as home from './dashboard/home-parts.ts'
export { type Ancestry, buildAncestry } from './ecommerce/ancestry.ts'
export { type DiscountSpec, discountHash, type LiveDiscount } from './ecommerce/discounts.ts'
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
export { putSandboxCart } from './ecommerce/sandbox-carts.ts'
export { listSandboxDiscounts } from './ecommerce/sandbox-discounts.ts'
export { changeSandboxProduct } from './ecommerce/sandbox-product-change.ts'
export { quoteSandboxCart } from './ecommerce/sandbox-quote.ts'
export { setSandboxStock } from './ecommerce/sandbox-stock.ts'
export { buildCartDeliveries, buildWebhookDeliveries } from './ecommerce/sandbox-webhooks.ts'
export { sanitizeProduct } from './ecommerce/sanitize-product.ts'
export {
  belongsToSubject,
  type DataSubject,
  type ErasureHandler,
  mentionsSubject,
  redactSubject,
} from './erasure.ts'
export { byteOrderMark, readCell, toCsv } from './files/csv.ts'
export { defineExport, exportJob, exportSource } from './files/export-job.ts'
export * as exports from './files/exports.ts'
export * as files from './files/files.ts'
export { ordersSync } from './handles.ts'
export * as health from './health/health.ts'
export * as headers from './imports/headers.ts'
export * as imports from './imports/imports.ts'
export * as childKeys from './keys/child-keys.ts'
export * as orders from './orders/orders.ts'
export { syncOrdersIfStale } from './orders/sync.ts'
export {
  canWriteAt,
  featureSet,
  getPlan,
  type PlanCurrency,
  paidPlans,
  pauseLimitMs,
  planCurrency,
  planIdAt,
  plans,
  type SubscriptionStatus,
  statusAt,
} from './plans.ts'
export { isTimezone } from './profile/locality.ts'
export * as stores from './profile/stores.ts'
export * as events from './provider-events/accept.ts'
export { applyEvents } from './provider-events/apply.ts'
export { ingestEvents } from './provider-events/ingest.ts'
export * as cycles from './quota/cycles.ts'
export { mayUse, notifyEntitlementChanged, readEntitlement } from './quota/entitlement.ts'
export { type MessageSource, messageSources } from './quota/ledger.ts'
export * as metering from './quota/metering.ts'
export * as periods from './quota/periods.ts'
export { deliverWebhooks, findSandboxShop, refusedAsBadRequest, requireStoreId } from './sandbox/shop.ts'
export { areSumsBuilt, rebuildDailySums } from './sums/rebuild-days.ts'
export { isCountedConversion, isCountedOrder, sourceTypes } from './sums/revenue-rules.ts'
export * as members from './team/members.ts'
