import { onConnected, sending, templates } from '#operations/messaging/door'
import { attribution, connections, events, onboarding, orders, stores } from '#operations/store/door'
import { wiring } from '#runtime/wiring'
import cartsSync from './carts/jobs/carts-sync.ts'
import { activeSince, templateUse } from './definitions/registrations.ts'
import { createFirst } from './definitions/save.ts'
import { releaseHolds } from './engine/release-holds.ts'
import { applyStatuses } from './engine/statuses.ts'
import { ordersChanged } from './entering/events.ts'
import { applyConversions } from './reports/conversions.ts'

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
