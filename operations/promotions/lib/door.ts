/** What other sections may use of this one: the objects that all widgets of products have alike. */
export { combinesWith } from './combines.ts'
export {
  type Condition,
  type ConditionChange,
  conditionFields,
  meetsCondition,
  mergedCondition,
  unconditional,
} from './condition.ts'
export { itemStatus } from './item-status.ts'
export { itemShape, itemsOf } from './items.ts'
export {
  always,
  mergedSchedule,
  nextTurn,
  type Phase,
  phaseOf,
  type Schedule,
  type ScheduleChange,
  scheduleFields,
} from './schedule.ts'
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
} from './targeting.ts'
export { emptyToNull, nullableText, variableLine } from './texts.ts'
export { assetUrl, isAssetUrl, isLinkUrl, linkUrl, requireAssets } from './urls.ts'
export { readSettings, saveSettings } from './widget-settings.ts'
