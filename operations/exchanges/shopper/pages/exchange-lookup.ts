import { storefrontPage } from '#operations/storefront/door'
import { read } from '#runtime/gateway/input'
import { jsonAnswer } from '#runtime/page'
import { lookUp, lookupAnswer } from '../lookup.ts'
import { orderPage } from '../lookup-page.ts'
import { whileOpen } from '../open-page.ts'
import { exchangePeople } from '../page-words.ts'
import { lookupBody } from '../schema.ts'
import { choices } from '../variants.ts'

const tries = 10
const windowMs = 15 * 60_000

export default storefrontPage({
  method: 'POST',
  path: '/exchanges/lookup',
  description:
    'What of an order can be exchanged or returned, and a token to ask for it, good for 30 minutes.',
  trust: 'The number of an order with its email or phone; ten tries in a quarter of an hour.',
  kind: 'link',
  feature: 'exchanges',
  people: exchangePeople,
  handler: (ctx, visit) =>
    whileOpen(ctx, async (settings) => {
      await visit.limit('exchange-lookups', tries, windowMs)
      const wantsPage = visit.isForm
      const given = wantsPage ? read(lookupBody, await visit.fields(), 'body') : await visit.body(lookupBody)
      const offer = await lookUp(ctx, settings, given)
      const answer = lookupAnswer(ctx, offer)
      if (!wantsPage) return jsonAnswer(answer)
      return orderPage(
        ctx,
        settings,
        offer,
        answer,
        await choices(ctx, offer.order, settings, offer.order.items),
      )
    }),
})
