/** What other sections may use of this one. */
export { dropStagedRows } from './imports/writes.ts'
export { addCaptured } from './lists/captured.ts'
