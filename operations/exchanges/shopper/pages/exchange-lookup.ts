import { storefrontPage, type Visit } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { jsonAnswer } from '#runtime/page'
import type { ExchangeContent } from '../../settings/schema.ts'
import { filledBefore, lookupAgain } from '../form-answers.ts'
import { lookupForm } from '../forms.ts'
import { lookUp, lookupAnswer } from '../lookup.ts'
import { whileOpen } from '../open-page.ts'
import { orderPage } from '../order-page.ts'
import { exchangePeople } from '../page-words.ts'
import { lookupBody } from '../schema.ts'
import { issueSession } from '../session.ts'
import { choices } from '../variants.ts'

const tries = 10
const windowMs = 15 * minuteMs

export default storefrontPage({
  method: 'POST',
  path: '/exchanges/lookup',
  description:
    'What of an order can be exchanged or returned, and a token to ask for it, good for 30 minutes.',
  trust: 'The number of an order with its email or phone; ten tries in a quarter of an hour.',
  kind: 'link',
  feature: 'exchanges',
  people: exchangePeople,
  form: lookupAgain,
  handler: (ctx, visit) =>
    whileOpen(ctx, async (settings) => {
      await visit.limit('exchange-lookups', tries, windowMs)
      if (visit.isForm) return lookUpForm(ctx, visit, settings)
      return jsonAnswer(lookupAnswer(ctx, await lookUp(ctx, settings, await visit.body(lookupBody))))
    }),
})

async function lookUpForm(ctx: Context, visit: Visit, settings: ExchangeContent): Promise<Response> {
  const { lookup, kept } = lookupForm(await visit.fields())
  const offer = await lookUp(ctx, settings, lookup)
  const { order } = offer
  return orderPage(ctx, settings, {
    offer,
    sessionToken: issueSession(ctx, order.id),
    variants: await choices(ctx, order, settings, order.items),
    filled: filledBefore(ctx, kept),
  })
}
