import { exports } from '#operations/store/door'
import { job } from '#runtime/job'

export default job(exports.exportJob('opt-outs-export', 'Emails the opted-out phones as CSV'))
