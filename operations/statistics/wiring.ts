import { wiring } from '#runtime/wiring'
import { conversionsExport, statisticsExport } from './statistics/exports.ts'

export default wiring({
  exports: { 'conversions-export': conversionsExport, 'statistics-export': statisticsExport },
})
