import { wiring } from '#runtime/wiring'
import { activeSince, templateUse } from './definitions/registrations.ts'
import { createFirst } from './definitions/save.ts'
import { executions } from './engine/lane.ts'
import { mirrorRead, releaseHolds } from './engine/release-holds.ts'
import { ordersChanged } from './entering/events.ts'
import { forgetShop, forgetsRuns } from './forgetting/forget.ts'
import { cartsSync } from './handles.ts'
import { applyConversions } from './reports/conversions.ts'

export default wiring({
  personForgotten: [forgetsRuns],
  shopForgotten: [forgetShop],
  providerEvents: { 'ecommerce:cart.updated': [async (ctx) => void (await ctx.queue(cartsSync, {}))] },
  platformConnected: [(ctx) => ctx.queue(cartsSync, {})],
  ordersChanged: [ordersChanged],
  ordersRead: [mirrorRead],
  conversionsChanged: { automation: [applyConversions] },
  senders: { au: executions },
  templateUses: [templateUse],
  templateApproved: [(ctx) => releaseHolds(ctx, 'template-pending')],
  numberConnected: [(ctx) => releaseHolds(ctx, 'not-connected')],
  timezoneChanged: [(ctx) => releaseHolds(ctx, 'quiet-hours')],
  switches: { automations: { activate: createFirst } },
  evidence: { automation: activeSince },
})
