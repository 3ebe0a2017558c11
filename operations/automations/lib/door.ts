/** What other sections may use of this one. */
export { type AvailableAutomation, automationsOfTypes, available, getAutomation } from './automations.ts'
export type { AutomationRow, AutomationType } from './types.ts'
