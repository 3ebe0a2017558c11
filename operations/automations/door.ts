/** What other sections may use of this one. */
export {
  type AvailableAutomation,
  available,
  getAutomation,
  requirementOf,
} from './automations.ts'
export type { ReviewRequests } from './definitions/warnings.ts'
export type { Reviewed } from './engine/reviewed.ts'
export { enterManually } from './entering/manually.ts'
export type { AutomationType } from './types.ts'
