import { storefrontPage } from '#operations/storefront/door'
import { read } from '#runtime/input'
import { whileOpen } from '../lib/open-page.ts'
import { shipRequest } from '../lib/shopper-moves.ts'
import { shippedBody } from '../lib/shopper-schema.ts'
import { answerAfter } from '../lib/status-answer.ts'

export default storefrontPage({
  method: 'POST',
  path: '/exchanges/requests/:statusToken/shipped',
  description: 'The shopper has sent the items: takes the tracking code, or a corrected one on the way.',
  trust: 'The random token of the link, which only the shopper was given.',
  kind: 'link',
  feature: 'exchanges',
  handler: (ctx, visit) =>
    whileOpen(ctx, visit, async (settings) => {
      const given = visit.isForm
        ? read(shippedBody, await visit.fields(), 'body')
        : await visit.body(shippedBody)
      await shipRequest(ctx, visit.params.statusToken!, given)
      return answerAfter(ctx, visit, settings)
    }),
})
