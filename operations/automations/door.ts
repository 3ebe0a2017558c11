/** What other sections may use of this one. */
export {
  type AvailableAutomation,
  automationsOfTypes,
  available,
  getAutomation,
  requirementOf,
} from './automations.ts'
export type { ReviewRequests } from './definitions/warnings.ts'
export type { Reviewed } from './engine/reviewed.ts'
export { enterManually, type ManualEntry } from './entering/manually.ts'
export type { AutomationRow, AutomationType } from './types.ts'
