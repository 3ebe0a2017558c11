/** Job handles of opt-outs. They are not in `../handles.ts`, because the section's root imports this folder. */
import { exports } from '#operations/store/index'

export const optOutsExport = exports.handle('opt-outs-export')
