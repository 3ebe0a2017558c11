import { exports } from '#operations/store/door'
import { job } from '#runtime/job'

export default job(exports.exportJob('statistics-export', 'Emails statistics as CSV'))
