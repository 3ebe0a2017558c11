/** What other sections may use of this one. */
export { addCaptured, type Captured } from './lists/captured.ts'
export { onDeleted as onListDeleted } from './lists/lists.ts'
export * as optOuts from './opt-outs/opt-outs.ts'
