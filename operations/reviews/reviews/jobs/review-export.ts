import { exports } from '#operations/store/door'
import { job } from '#runtime/job'
import { reviewExport } from '../../handles.ts'

export default job(reviewExport, exports.exportJob(reviewExport, 'Emails reviews as CSV'))
