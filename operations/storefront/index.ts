/** Public API of the storefront for other sections. */
export * as snapshots from './catalog/snapshots.ts'
export { countedRows } from './events/counters.ts'
export { deleteCounts } from './events/intake.ts'
export type {
  Counted,
  EventSpec,
  StorefrontEvent,
} from './events/specs.ts'
export { listVariantChoices } from './products/choices.ts'
export { combinesWith } from './products/combines.ts'
export {
  type Condition,
  conditionFields,
  meetsCondition,
  mergeCondition,
  unconditional,
} from './products/condition.ts'
export { itemCatalogFields, itemStatus } from './products/item-status.ts'
export { getUnitCents, itemJson, itemShape, selectItems } from './products/items.ts'
export { containsVariant, nameWithVariant } from './products/names.ts'
export {
  always,
  findNextChange,
  getPhase,
  mergeSchedule,
  type Schedule,
  type ScheduleChange,
  scheduleFields,
  schedulesShown,
} from './products/schedule.ts'
export { findShownProducts } from './products/shown-products.ts'
export {
  everyProduct,
  findTarget,
  isTargeted,
  mergeTargeting,
  platformId,
  requireTargets,
  type Targeting,
  type TargetingChange,
  targetingFields,
} from './products/targeting.ts'
export { nullableText, variableLine } from './products/texts.ts'
export { assetUrl, isAssetUrl, isLinkUrl, linkUrl, requireAssets } from './products/urls.ts'
export { widgetSettings } from './products/widget-settings.ts'
export type { ElementSpec } from './script/modules.ts'
export * as publication from './script/publication.ts'
export { type FormPage, honeypot } from './visits/refused-form.ts'
export { renderShopperPage, type ShopperTexts } from './visits/shopper-page.ts'
export { storeResponse } from './visits/stored-response.ts'
export { storefrontPage } from './visits/storefront-page.ts'
export * as tokens from './visits/tokens.ts'
export type { Visit } from './visits/visit.ts'
export { markStorefrontChanged } from './widgets/revision.ts'
export type { Widget, WidgetQuery } from './widgets/widgets.ts'
