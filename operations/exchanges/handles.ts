/** The jobs of exchanges that are queued, by whoever does: a queue's name, and what it is told. */
import { exports } from '#operations/store/door'
import { handle } from '#runtime/jobs/handle'
import { id, object } from '#runtime/schema'

export const exchangeExport = exports.handle('exchange-export')

export const exchangeNotify = handle('exchange-notify', object({ noticeId: id }))
