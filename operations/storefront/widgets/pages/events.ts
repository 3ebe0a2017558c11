import { refuseUnknown, takeEvents } from '../../events/intake.ts'
import { eventsBody } from '../../events/schema.ts'
import { isBot } from '../../visits/bots.ts'
import { storefrontPage } from '../../visits/storefront-page.ts'

export default storefrontPage({
  method: 'POST',
  path: '/events',
  description: "What a shopper's browser saw and did: counted once each, for every widget.",
  trust:
    'Anybody may tell; an event counts once, within limits, and names no person but who leaves a contact.',
  kind: 'events',
  feature: null,
  async handler(ctx, visit) {
    const body = await visit.body(eventsBody)
    refuseUnknown(ctx, body)
    if (!isBot(visit.header('user-agent'))) await takeEvents(ctx, visit.features, body)
    return new Response(null, { status: 204 })
  },
})
