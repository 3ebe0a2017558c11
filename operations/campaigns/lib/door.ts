/** What other sections may use of this one. */
export { addCaptured, type Captured } from './captured.ts'
export { onDeleted as onListDeleted } from './lists.ts'
export * as optOuts from './opt-outs.ts'
