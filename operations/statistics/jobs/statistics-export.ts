import { exports } from '#operations/store/door'
import { job } from '#runtime/job'
import { statisticsExport } from '../handles.ts'

export default job(statisticsExport, exports.exportJob(statisticsExport, 'Emails statistics as CSV'))
