/** The public API of this section. */
export { dropStagedRows } from './imports/writes.ts'
export { addCaptured } from './lists/captured.ts'
