import { storefrontPage, type Visit } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { jsonAnswer } from '#runtime/page'
import type { ExchangeContent } from '../../settings/schema.ts'
import { lookupRedraw, restoreForm } from '../form-answers.ts'
import { parseLookupForm } from '../forms.ts'
import { lookUp, toLookupAnswer } from '../lookup.ts'
import { renderOrderPage } from '../order-page.ts'
import { exchangePeople } from '../page-words.ts'
import { lookupBody } from '../schema.ts'
import { issueSession } from '../session.ts'
import { listChoices } from '../variants.ts'
import { whileEnabled } from '../while-enabled.ts'

const tries = 10
const windowMs = 15 * minuteMs

export default storefrontPage({
  method: 'POST',
  path: '/exchanges/lookup',
  description: 'The items of an order that can be exchanged or returned, and a session token for 30 minutes.',
  trust: 'The number of an order with its email or phone; ten tries in a quarter of an hour.',
  kind: 'link',
  feature: 'exchanges',
  people: exchangePeople,
  form: lookupRedraw,
  handler: (ctx, visit) =>
    whileEnabled(ctx, async (settings) => {
      await visit.limit('exchange-lookups', tries, windowMs)
      if (visit.isForm) return lookUpForm(ctx, visit, settings)
      return jsonAnswer(toLookupAnswer(ctx, await lookUp(ctx, settings, await visit.body(lookupBody))))
    }),
})

async function lookUpForm(ctx: Context, visit: Visit, settings: ExchangeContent): Promise<Response> {
  const { lookup, restored } = parseLookupForm(await visit.fields())
  const offer = await lookUp(ctx, settings, lookup)
  const { order } = offer
  return renderOrderPage(ctx, settings, {
    offer,
    sessionToken: issueSession(ctx, order.id),
    variants: await listChoices(ctx, order, settings, order.items),
    filled: restoreForm(ctx, restored),
  })
}
