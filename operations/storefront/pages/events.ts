import { isBot } from '../lib/bots.ts'
import { eventsBody } from '../lib/event-schema.ts'
import { takeEvents } from '../lib/intake.ts'
import { storefrontPage } from '../lib/visit.ts'

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
    if (!isBot(visit.header('user-agent'))) await takeEvents(ctx, visit.features, body)
    return new Response(null, { status: 204 })
  },
})
