import { exports } from '#operations/store/door'
import { job } from '#runtime/job'

export default job(exports.exportJob('contact-form-export', 'Emails the submissions of the form as CSV'))
