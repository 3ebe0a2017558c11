import { exports } from '#operations/store/door'
import { job } from '#runtime/job'

export default job(exports.exportJob('exchange-export', 'Emails requests for exchanges and returns as CSV'))
