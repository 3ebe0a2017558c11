/** What the sections with something on the storefront use. */
export * as snapshots from './catalog/snapshots.ts'
export { countedRows } from './events/counters.ts'
export { forgetCounted } from './events/intake.ts'
export type {
  Counted,
  EventSpec,
  StorefrontEvent,
} from './events/specs.ts'
export { variantChoices } from './products/choices.ts'
export { combinesWith } from './products/combines.ts'
export {
  type Condition,
  conditionFields,
  meetsCondition,
  mergedCondition,
  unconditional,
} from './products/condition.ts'
export { itemSeen, itemStatus } from './products/item-status.ts'
export { itemJson, itemShape, itemsOf, unitCents } from './products/items.ts'
export {
  always,
  mergedSchedule,
  nextTurn,
  phaseOf,
  type Schedule,
  type ScheduleChange,
  scheduleFields,
  schedulesShown,
} from './products/schedule.ts'
export { shownProducts } from './products/shown-products.ts'
export {
  everyProduct,
  findTarget,
  isTargeted,
  mergedTargeting,
  platformId,
  requireTargets,
  type Targeting,
  type TargetingChange,
  targetingFields,
} from './products/targeting.ts'
export { emptyToNull, nullableText, variableLine } from './products/texts.ts'
export { assetUrl, isAssetUrl, isLinkUrl, linkUrl, requireAssets } from './products/urls.ts'
export { widgetSettings } from './products/widget-settings.ts'
export type { ElementSpec } from './script/modules.ts'
export * as publication from './script/publication.ts'
export { answeredIn } from './visits/answered.ts'
export { type FormAgain, trap } from './visits/form-again.ts'
export { type PeopleWords, shopperPage } from './visits/shopper-page.ts'
export { storefrontPage } from './visits/storefront-page.ts'
export * as tokens from './visits/tokens.ts'
export type { Visit } from './visits/visit.ts'
export { changed } from './widgets/changed.ts'
export type { Widget, WidgetQuery } from './widgets/widgets.ts'
