import { storefrontPage, storeResponse } from '#operations/storefront/index'
import { parseInput } from '#runtime/gateway/input'
import { shipRequest } from '../actions.ts'
import { answerAfterAction, statusRedraw } from '../form-answers.ts'
import { exchangePeople } from '../page-words.ts'
import { shippedBody } from '../schema.ts'
import { whileEnabled } from '../while-enabled.ts'

export default storefrontPage({
  method: 'POST',
  path: '/exchanges/requests/:statusToken/shipped',
  description: 'The shopper has sent the items: takes the tracking code, or a corrected one on the way.',
  trust: 'The random token of the link, which only the shopper was given.',
  kind: 'link',
  feature: 'exchanges',
  people: exchangePeople,
  form: statusRedraw,
  handler: (ctx, visit) =>
    whileEnabled(ctx, async (settings) => {
      const given = visit.isForm
        ? parseInput(shippedBody, await visit.fields(), 'body')
        : await visit.body(shippedBody)
      return ctx.transaction(async (tx) => {
        await shipRequest(tx, visit.params.statusToken!, given)
        return storeResponse(tx, await answerAfterAction(tx, visit, settings))
      })
    }),
})
