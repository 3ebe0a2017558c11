/** The jobs of statistics that are queued, by whoever does: a queue's name, and what it is told. */
import { exports } from '#operations/store/door'

export const conversionsExport = exports.handle('conversions-export')

export const statisticsExport = exports.handle('statistics-export')
