import { onConnected, sending, templates } from '#operations/messaging/lib/door'
import { attribution, connections, events, onboarding, orders, stores } from '#operations/store/lib/door'
import { wiring } from '#runtime/wiring'
import cartsSync from './jobs/carts-sync.ts'
import { applyConversions } from './lib/engine/conversions.ts'
import { ordersChanged } from './lib/engine/events.ts'
import { releaseHolds } from './lib/engine/release-holds.ts'
import { applyStatuses } from './lib/engine/statuses.ts'
import { activeSince, templateUse } from './lib/registrations.ts'
import { createFirst } from './lib/save.ts'

export default wiring(() => {
  events.on('ecommerce', 'cart.updated', async (ctx) => {
    await ctx.queue(cartsSync, {})
  })
  connections.onConnected((ctx) => ctx.queue(cartsSync, {}))
  orders.onChange(ordersChanged)
  sending.onStatus('au', applyStatuses)
  attribution.onConversionChanged('automation', applyConversions)
  templates.onApproved(async (ctx) => {
    await releaseHolds(ctx, 'template-pending')
  })
  onConnected(async (ctx) => {
    await releaseHolds(ctx, 'not-connected')
  })
  stores.onTimezoneChanged(async (ctx) => {
    await releaseHolds(ctx, 'quiet-hours')
  })
  templates.registerUse(templateUse)
  onboarding.onEvidence('automation', activeSince)
  onboarding.onActivate('automations', createFirst)
})
