import { storefrontPage } from '#operations/storefront/door'
import { jsonAnswer } from '#runtime/page'
import { forgedLink, leftPage, unsubscribeQuery } from '../unsubscribe-texts.ts'
import * as unsubscribes from '../unsubscribes.ts'

export default storefrontPage({
  method: 'POST',
  path: '/unsubscribe',
  description:
    'Unsubscribes from the emails that the link stands for; also one-click, as mail programs do it.',
  trust: 'The signed token of the link, which only the address was sent.',
  kind: 'link',
  feature: null,
  async handler(ctx, visit) {
    const leaving = unsubscribes.read(ctx, visit.query(unsubscribeQuery).token)
    if (!leaving) return forgedLink()
    await unsubscribes.leave(ctx, leaving)
    return visit.wantsHtml ? leftPage(ctx.store.name) : jsonAnswer({ status: 'unsubscribed' })
  },
})
