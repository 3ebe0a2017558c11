import { exports } from '#operations/store/door'
import { job } from '#runtime/job'

export default job(exports.exportJob('inbox-export', 'Emails the conversations as CSV'))
