import { exports } from '#operations/store/door'
import { job } from '#runtime/job'

export default job(exports.exportJob('review-export', 'Emails reviews as CSV'))
