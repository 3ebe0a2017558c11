import { storefrontPage, storeResponse } from '#operations/storefront/index'
import { object } from '#runtime/schema'
import { cancelRequest } from '../actions.ts'
import { answerAfterAction, statusRedraw } from '../form-answers.ts'
import { exchangePeople } from '../page-words.ts'
import { whileEnabled } from '../while-enabled.ts'

export default storefrontPage({
  method: 'POST',
  path: '/exchanges/requests/:statusToken/cancel',
  description: 'The shopper cancels a request; its units are free again.',
  trust: 'The random token of the link, which only the shopper was given.',
  kind: 'link',
  feature: 'exchanges',
  people: exchangePeople,
  form: statusRedraw,
  handler: (ctx, visit) =>
    whileEnabled(ctx, async (settings) => {
      if (!visit.isForm) await visit.body(object({}))
      return ctx.transaction(async (tx) => {
        await cancelRequest(tx, visit.params.statusToken!)
        return storeResponse(tx, await answerAfterAction(tx, visit, settings))
      })
    }),
})
