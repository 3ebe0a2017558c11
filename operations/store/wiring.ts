import { wiring } from '#runtime/wiring'
import { tellOfFailure } from './files/job-notices.ts'
import { keepNamed, lookForFiles } from './files/uses.ts'
import { ordersSync } from './handles.ts'

export default wiring({
  jobFailed: [tellOfFailure],
  references: { file: lookForFiles },
  keeps: [keepNamed],
  providerEvents: { 'ecommerce:order.updated': [async (ctx) => void (await ctx.queue(ordersSync, {}))] },
})
