import { storefrontPage } from '#operations/storefront/door'
import { jsonAnswer } from '#runtime/page'
import { leavingOf, leftPage, unsubscribePeople, unsubscribeQuery } from '../unsubscribe-texts.ts'
import * as unsubscribes from '../unsubscribes.ts'

export default storefrontPage({
  method: 'POST',
  path: '/unsubscribe',
  description:
    'Unsubscribes from the emails that the link stands for; also one-click, as mail programs do it.',
  trust: 'The signed token of the link, which only the address was sent.',
  kind: 'link',
  feature: null,
  people: unsubscribePeople,
  form: null,
  async handler(ctx, visit) {
    await unsubscribes.leave(ctx, leavingOf(ctx, visit.query(unsubscribeQuery).token))
    return visit.wantsHtml ? leftPage(ctx) : jsonAnswer({ status: 'unsubscribed' })
  },
})
