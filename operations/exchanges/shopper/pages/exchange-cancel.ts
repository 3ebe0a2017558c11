import { answeredIn, storefrontPage } from '#operations/storefront/door'
import { object } from '#runtime/schema'
import { answerAfter, statusAgain } from '../form-answers.ts'
import { cancelRequest } from '../moves.ts'
import { whileOpen } from '../open-page.ts'
import { exchangePeople } from '../page-words.ts'

export default storefrontPage({
  method: 'POST',
  path: '/exchanges/requests/:statusToken/cancel',
  description: 'The shopper takes a request back; its units are free again.',
  trust: 'The random token of the link, which only the shopper was given.',
  kind: 'link',
  feature: 'exchanges',
  people: exchangePeople,
  form: statusAgain,
  handler: (ctx, visit) =>
    whileOpen(ctx, async (settings) => {
      if (!visit.isForm) await visit.body(object({}))
      return ctx.transaction(async (tx) => {
        await cancelRequest(tx, visit.params.statusToken!)
        return answeredIn(tx, await answerAfter(tx, visit, settings))
      })
    }),
})
