/** What other sections may use of this one: the objects that all widgets of products have alike. */
export { combinesWith } from './products/combines.ts'
export {
  type Condition,
  type ConditionChange,
  conditionFields,
  meetsCondition,
  mergedCondition,
  unconditional,
} from './products/condition.ts'
export { itemStatus } from './products/item-status.ts'
export { itemShape, itemsOf } from './products/items.ts'
export {
  always,
  mergedSchedule,
  nextTurn,
  type Phase,
  phaseOf,
  type Schedule,
  type ScheduleChange,
  scheduleFields,
} from './products/schedule.ts'
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
export { readSettings, saveSettings } from './products/widget-settings.ts'
