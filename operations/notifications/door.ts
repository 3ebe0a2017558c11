/** What other sections may use of this one. */
export { notify } from './notify.ts'
