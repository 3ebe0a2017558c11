import { exports } from '#operations/store/lib/door'
import { job } from '#runtime/job'

export default job(exports.exportJob('statistics-export', 'Emails statistics as CSV'))
