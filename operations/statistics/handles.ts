/** Handles of the section's jobs. */
import { exports } from '#operations/store/index'

export const conversionsExport = exports.handle('conversions-export')

export const statisticsExport = exports.handle('statistics-export')
