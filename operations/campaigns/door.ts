/** What other sections may use of this one. */
export { addCaptured, type Captured } from './lists/captured.ts'
