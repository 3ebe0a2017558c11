import { exports } from '#operations/store/door'
import { job } from '#runtime/job'

export default job(exports.exportJob('contacts-export', 'Emails the contacts of a list as CSV'))
