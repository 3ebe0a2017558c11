import { exports } from '#operations/store/door'
import { job } from '#runtime/job'
import { inboxExport } from '../../handles.ts'

export default job(inboxExport, exports.exportJob(inboxExport, 'Emails the conversations as CSV'))
