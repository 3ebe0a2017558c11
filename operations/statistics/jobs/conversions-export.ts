import { exports } from '#operations/store/door'
import { job } from '#runtime/job'

export default job(exports.exportJob('conversions-export', 'Emails conversions as CSV'))
