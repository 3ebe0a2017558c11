import { htmlAnswer } from '#operations/store/door'
import { storefrontPage } from '#operations/storefront/door'
import { forgedLink, leaveForm, unsubscribeQuery } from '../unsubscribe-texts.ts'
import * as unsubscribes from '../unsubscribes.ts'

export default storefrontPage({
  method: 'GET',
  path: '/unsubscribe',
  description: 'The page behind the unsubscribe link of every email; looking changes nothing.',
  trust: 'The signed token of the link; mail scanners follow links, so that only the button unsubscribes.',
  kind: 'link',
  feature: null,
  handler(ctx, visit) {
    const { token } = visit.query(unsubscribeQuery)
    return unsubscribes.read(ctx, token) ? htmlAnswer('Unsubscribe', leaveForm(ctx.store.name)) : forgedLink()
  },
})
