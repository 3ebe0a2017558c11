import { storefrontPage } from '#operations/storefront/index'
import { jsonAnswer } from '#runtime/page'
import { exchangePeople } from '../page-words.ts'
import { renderStatusPage } from '../status-page.ts'
import { findView } from '../view.ts'
import { pageNotFound, whileEnabled } from '../while-enabled.ts'

export default storefrontPage({
  method: 'GET',
  path: '/exchanges/requests/:statusToken',
  description: 'A request as its shopper sees it: a page for a person, JSON for a script.',
  trust: 'The random token of the link, which only the shopper was given.',
  kind: 'link',
  feature: 'exchanges',
  people: exchangePeople,
  handler: (ctx, visit) =>
    whileEnabled(ctx, async (settings) => {
      const token = visit.params.statusToken!
      const view = await findView(ctx, settings, token)
      if (!view) throw pageNotFound()
      return visit.wantsHtml ? renderStatusPage(ctx, view, token) : jsonAnswer(view)
    }),
})
