import { storefrontPage } from '#operations/storefront/door'
import { leavePage, leavingOf, unsubscribePeople, unsubscribeQuery } from '../unsubscribe-texts.ts'

export default storefrontPage({
  method: 'GET',
  path: '/unsubscribe',
  description: 'The page behind the unsubscribe link of every email; looking changes nothing.',
  trust: 'The signed token of the link; mail scanners follow links, so that only the button unsubscribes.',
  kind: 'link',
  feature: null,
  people: unsubscribePeople,
  handler(ctx, visit) {
    leavingOf(ctx, visit.query(unsubscribeQuery).token)
    return leavePage(ctx)
  },
})
