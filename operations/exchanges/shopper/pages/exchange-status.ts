import { storefrontPage } from '#operations/storefront/door'
import { jsonAnswer } from '#runtime/page'
import { missing, whileOpen } from '../open-page.ts'
import { statusPage } from '../status-page.ts'
import { findView } from '../view.ts'

export default storefrontPage({
  method: 'GET',
  path: '/exchanges/requests/:statusToken',
  description: 'A request as its shopper sees it: a page for a person, JSON for a script.',
  trust: 'The random token of the link, which only the shopper was given.',
  kind: 'link',
  feature: 'exchanges',
  missing,
  handler: (ctx, visit) =>
    whileOpen(ctx, visit, async (settings) => {
      const token = visit.params.statusToken!
      const view = await findView(ctx, settings, token)
      if (!view) return missing(visit.wantsHtml)
      return visit.wantsHtml ? statusPage(ctx, view, token) : jsonAnswer(view)
    }),
})
