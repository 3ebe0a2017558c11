/** What sections tell the onboarding: how their feature is turned on, and what shows that a step is done. */
export { onActivate } from './activation.ts'
export { onEvidence } from './onboarding.ts'
