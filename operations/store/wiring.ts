import { onJobFailed } from '#runtime/jobs/failures'
import { registerReference } from '#runtime/references'
import { wiring } from '#runtime/wiring'
import { tellOfFailure } from './files/job-notices.ts'
import { lookForFiles } from './files/uses.ts'
import ordersSync from './orders/jobs/orders-sync.ts'
import { on } from './provider-events/accept.ts'

export default wiring(() => {
  onJobFailed(tellOfFailure)
  registerReference('file', lookForFiles)
  on('ecommerce', 'order.updated', async (ctx) => {
    await ctx.queue(ordersSync, {})
  })
})
