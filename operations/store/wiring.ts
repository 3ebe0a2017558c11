import { onJobFailed } from '#runtime/failures'
import { registerReference } from '#runtime/references'
import { wiring } from '#runtime/wiring'
import ordersSync from './jobs/orders-sync.ts'
import { on } from './lib/events.ts'
import { lookForFiles } from './lib/file-uses.ts'
import { tellOfFailure } from './lib/job-notices.ts'

export default wiring(() => {
  onJobFailed(tellOfFailure)
  registerReference('file', lookForFiles)
  on('ecommerce', 'order.updated', async (ctx) => {
    await ctx.queue(ordersSync, {})
  })
})
