import { storefrontPage } from '#operations/storefront/door'
import { jsonAnswer } from '#runtime/page'
import { nothingHere, whileOpen } from '../open-page.ts'
import { exchangePeople } from '../page-words.ts'
import { statusPage } from '../status-page.ts'
import { findView } from '../view.ts'

export default storefrontPage({
  method: 'GET',
  path: '/exchanges/requests/:statusToken',
  description: 'A request as its shopper sees it: a page for a person, JSON for a script.',
  trust: 'The random token of the link, which only the shopper was given.',
  kind: 'link',
  feature: 'exchanges',
  people: exchangePeople,
  handler: (ctx, visit) =>
    whileOpen(ctx, async (settings) => {
      const token = visit.params.statusToken!
      const view = await findView(ctx, settings, token)
      if (!view) throw nothingHere()
      return visit.wantsHtml ? statusPage(ctx, view, token) : jsonAnswer(view)
    }),
})
