/** The section's public API. */
export { eraseNotifications } from './erasure.ts'
export { notify } from './notify.ts'
