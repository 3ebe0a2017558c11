import { answeredIn, storefrontPage } from '#operations/storefront/door'
import { refuse } from '#runtime/errors'
import { jsonAnswer } from '#runtime/page'
import { alertsForShoppers } from '../../settings/settings.ts'
import { checkWaiter, subscribe, subscribeBody } from '../subscribe.ts'

export default storefrontPage({
  method: 'POST',
  path: '/stock-notifications',
  description: 'A shopper asks to be told when a sold-out variant is back.',
  trust:
    'Anybody may wait for a product: few a minute from one address, and nothing about others is answered.',
  kind: 'write',
  feature: 'stock-alerts',
  async handler(ctx, visit) {
    const settings = await alertsForShoppers(ctx)
    if (!settings.isEnabled) throw refuse('not_found', 'There is nothing here')
    const input = await visit.body(subscribeBody)
    const waiter = await checkWaiter(ctx, input, settings)
    const { channel } = waiter.contact
    const thanks = jsonAnswer({ status: 'waiting', channel, message: settings.successMessage }, 201)
    // A field that no person sees was filled in: the machine is thanked like everybody.
    if (input.website) return thanks
    await visit.accepted()
    return ctx.transaction(async (tx) => {
      await subscribe(tx, input, settings, waiter)
      return answeredIn(tx, thanks.clone())
    })
  },
})
