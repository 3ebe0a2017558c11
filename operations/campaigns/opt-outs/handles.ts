/** The jobs of opt-outs that are queued: here, as the root of the section imports this room. */
import { exports } from '#operations/store/door'

export const optOutsExport = exports.handle('opt-outs-export')
