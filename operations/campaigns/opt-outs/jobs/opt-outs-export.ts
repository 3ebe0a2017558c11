import { exports } from '#operations/store/door'
import { job } from '#runtime/job'
import { optOutsExport } from '../handles.ts'

export default job(optOutsExport, exports.exportJob(optOutsExport, 'Emails the opted-out phones as CSV'))
