import { storefrontPage, storeResponse } from '#operations/storefront/index'
import { refuse } from '#runtime/errors'
import { jsonAnswer } from '#runtime/page'
import { readAlertsForShoppers } from '../../settings/settings.ts'
import { subscribe, subscribeBody, validateSubscription } from '../subscribe.ts'

export default storefrontPage({
  method: 'POST',
  path: '/stock-notifications',
  description: 'A shopper asks to be notified when a sold-out variant is back.',
  trust:
    'Anybody may wait for a product: few a minute from one address, and nothing about others is answered.',
  kind: 'write',
  feature: 'stock-alerts',
  async handler(ctx, visit) {
    const settings = await readAlertsForShoppers(ctx)
    if (!settings.isEnabled) throw refuse('not_found', 'There is nothing here')
    const input = await visit.body(subscribeBody)
    const waiter = await validateSubscription(ctx, input, settings)
    const { channel } = waiter.contact
    const thanks = jsonAnswer({ status: 'waiting', channel, message: settings.successMessage }, 201)
    // A filled honeypot field shows a bot. It gets the same response as everybody else, but no subscription.
    if (input.website) return thanks
    await visit.accepted()
    return ctx.transaction(async (tx) => {
      await subscribe(tx, input, settings, waiter)
      return storeResponse(tx, thanks.clone())
    })
  },
})
