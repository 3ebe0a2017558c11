/** The public API of this section. */
export {
  type AvailableAutomation,
  getAutomation,
  getRequirement as requirementOf,
  listAvailable as available,
} from './automations.ts'
export { describeMisfit } from './deciding/eligibility.ts'
export type { ReviewRequests } from './definitions/warnings.ts'
export type { Reviewed } from './engine/reviewed.ts'
export { enterManually } from './entering/manual-entry.ts'
export type { AutomationType } from './types.ts'
