import { storefrontPage } from '#operations/storefront/index'
import { jsonAnswer } from '#runtime/page'
import {
  renderUnsubscribedPage,
  requireUnsubscribeTarget,
  unsubscribePeople,
  unsubscribeQuery,
} from '../unsubscribe-texts.ts'
import * as unsubscribes from '../unsubscribes.ts'

export default storefrontPage({
  method: 'POST',
  path: '/unsubscribe',
  description: 'Unsubscribes from the emails of the link; also by one-click unsubscribe of mail programs.',
  trust: 'The signed token of the link, which only the address was sent.',
  kind: 'link',
  feature: null,
  people: unsubscribePeople,
  form: null,
  async handler(ctx, visit) {
    await unsubscribes.unsubscribe(ctx, requireUnsubscribeTarget(ctx, visit.query(unsubscribeQuery).token))
    return visit.wantsHtml ? renderUnsubscribedPage(ctx) : jsonAnswer({ status: 'unsubscribed' })
  },
})
