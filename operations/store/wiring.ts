import { onJobFailed } from '#runtime/failures'
import { wiring } from '#runtime/wiring'
import ordersSync from './jobs/orders-sync.ts'
import { on } from './lib/events.ts'
import { tellOfFailure } from './lib/job-notices.ts'

export default wiring(() => {
  onJobFailed(tellOfFailure)
  on('ecommerce', 'order.updated', async (ctx) => {
    await ctx.queue(ordersSync, {})
  })
})
