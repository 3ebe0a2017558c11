import { exports } from '#operations/store/door'
import { wiring } from '#runtime/wiring'
import { conversionsExport, statisticsExport } from './statistics/exports.ts'

export default wiring(() => {
  exports.register('conversions-export', conversionsExport)
  exports.register('statistics-export', statisticsExport)
})
