/** What other sections use of a connection's health (rule 19). */
export { answers, checking, checkingOne } from './checking.ts'
export { moveConnection } from './hear.ts'
export type { Checked, ConnectionKind, ServerKind } from './kinds.ts'
export { mailWaits } from './read.ts'
export { isTroubledSql } from './rows.ts'
