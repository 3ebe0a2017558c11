import { storefrontPage } from '#operations/storefront/index'
import {
  renderUnsubscribePage,
  requireUnsubscribeTarget,
  unsubscribePeople,
  unsubscribeQuery,
} from '../unsubscribe-texts.ts'

export default storefrontPage({
  method: 'GET',
  path: '/unsubscribe',
  description: 'The page behind the unsubscribe link of every email; opening it changes nothing.',
  trust: 'The signed token of the link; mail scanners follow links, so that only the button unsubscribes.',
  kind: 'link',
  feature: null,
  people: unsubscribePeople,
  handler(ctx, visit) {
    requireUnsubscribeTarget(ctx, visit.query(unsubscribeQuery).token)
    return renderUnsubscribePage(ctx)
  },
})
