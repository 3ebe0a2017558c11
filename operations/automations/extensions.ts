import { extensions } from '#runtime/extensions'
import { findActiveSince, templateUse } from './definitions/registrations.ts'
import { createFirst } from './definitions/save.ts'
import { executions } from './engine/outbox-source.ts'
import { releaseAfterSync, releaseHolds } from './engine/release-holds.ts'
import { queueOrderEvents } from './entering/events.ts'
import { eraseShop, runErasure } from './erasure/erasure.ts'
import { cartsSync } from './handles.ts'
import { applyConversions } from './reports/conversions.ts'

export default extensions({
  personErasure: [runErasure],
  shopErasure: [eraseShop],
  providerEvents: { 'ecommerce:cart.updated': [async (ctx) => void (await ctx.queue(cartsSync, {}))] },
  platformConnected: [(ctx) => ctx.queue(cartsSync, {})],
  ordersChanged: [queueOrderEvents],
  ordersRead: [releaseAfterSync],
  conversionsChanged: { automation: [applyConversions] },
  senders: { au: executions },
  templateUses: [templateUse],
  templateApproved: [(ctx) => releaseHolds(ctx, 'template-pending')],
  numberConnected: [(ctx) => releaseHolds(ctx, 'not-connected')],
  timezoneChanged: [(ctx) => releaseHolds(ctx, 'quiet-hours')],
  featureActivators: { automations: { activate: createFirst } },
  evidence: { automation: findActiveSince },
})
