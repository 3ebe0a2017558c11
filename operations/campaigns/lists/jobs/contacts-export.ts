import { exports } from '#operations/store/door'
import { job } from '#runtime/job'
import { contactsExport } from '../../handles.ts'

export default job(contactsExport, exports.exportJob(contactsExport, 'Emails the contacts of a list as CSV'))
