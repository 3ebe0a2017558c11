/** What other sections may use of this one. */
export { dropStagedRows } from './imports/writes.ts'
export { addCaptured, type Captured } from './lists/captured.ts'
