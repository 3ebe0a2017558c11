/** Public API of connection health, for other sections (rule 19). */
export { checkConnection, expectAnswer, runCheck } from './checks.ts'
export { isUnhealthySql } from './health-rows.ts'
export type { ConnectionCheck, ConnectionKind, ServerKind } from './kinds.ts'
export { mailBlockedUntil } from './read-health.ts'
export { applyHealthEvent } from './record-outcome.ts'
