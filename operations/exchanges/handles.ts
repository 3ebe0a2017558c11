/** Queue handles of exchanges: each job's queue name and payload. */
import { exports } from '#operations/store/index'
import { handle } from '#runtime/jobs/handle'
import { id, object } from '#runtime/schema'

export const exchangeExport = exports.handle('exchange-export')

export const exchangeNotify = handle('exchange-notify', object({ noticeId: id }))
