import { wiring } from '#runtime/wiring'
import { tellOfFailure } from './files/job-notices.ts'
import { lookForFiles } from './files/uses.ts'
import { ordersSync } from './handles.ts'

export default wiring({
  jobFailed: [tellOfFailure],
  references: { file: lookForFiles },
  providerEvents: { 'ecommerce:order.updated': [async (ctx) => void (await ctx.queue(ordersSync, {}))] },
})
