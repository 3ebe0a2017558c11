import { answeredIn, storefrontPage } from '#operations/storefront/door'
import { read } from '#runtime/gateway/input'
import { answerAfter, statusAgain } from '../form-answers.ts'
import { shipRequest } from '../moves.ts'
import { whileOpen } from '../open-page.ts'
import { exchangePeople } from '../page-words.ts'
import { shippedBody } from '../schema.ts'

export default storefrontPage({
  method: 'POST',
  path: '/exchanges/requests/:statusToken/shipped',
  description: 'The shopper has sent the items: takes the tracking code, or a corrected one on the way.',
  trust: 'The random token of the link, which only the shopper was given.',
  kind: 'link',
  feature: 'exchanges',
  people: exchangePeople,
  form: statusAgain,
  handler: (ctx, visit) =>
    whileOpen(ctx, async (settings) => {
      const given = visit.isForm
        ? read(shippedBody, await visit.fields(), 'body')
        : await visit.body(shippedBody)
      return ctx.transaction(async (tx) => {
        await shipRequest(tx, visit.params.statusToken!, given)
        return answeredIn(tx, await answerAfter(tx, visit, settings))
      })
    }),
})
