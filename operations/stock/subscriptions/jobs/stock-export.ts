import { exports } from '#operations/store/door'
import { job } from '#runtime/job'

export default job(exports.exportJob('stock-export', 'Emails the subscriptions of stock alerts as CSV'))
