import { exports } from '#operations/store/door'
import { job } from '#runtime/job'

export default job(exports.exportJob('newsletter-export', 'Emails the newsletter subscribers as CSV'))
