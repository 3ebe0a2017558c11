import { recordEvents, refuseUnknown } from '../../events/intake.ts'
import { eventsBody } from '../../events/schema.ts'
import { isBot } from '../../visits/bots.ts'
import { storefrontPage } from '../../visits/storefront-page.ts'

export default storefrontPage({
  method: 'POST',
  path: '/events',
  description: "Events of a shopper's browser, for every widget: each is counted once.",
  trust:
    'Anybody may send events; each counts once, within limits, and has no personal data except a contact that is left.',
  kind: 'events',
  feature: null,
  async handler(ctx, visit) {
    const body = await visit.body(eventsBody)
    refuseUnknown(ctx, body)
    if (!isBot(visit.header('user-agent'))) await recordEvents(ctx, visit.features, body)
    return new Response(null, { status: 204 })
  },
})
