/** What other sections may use of this one. */
export { forgetNotices } from './forget.ts'
export { notify } from './notify.ts'
