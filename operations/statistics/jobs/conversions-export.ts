import { exports } from '#operations/store/door'
import { job } from '#runtime/job'
import { conversionsExport } from '../handles.ts'

export default job(conversionsExport, exports.exportJob(conversionsExport, 'Emails conversions as CSV'))
