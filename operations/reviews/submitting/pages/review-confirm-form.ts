import { storefrontPage } from '#operations/storefront/door'
import { refuse } from '#runtime/errors'
import { jsonAnswer } from '#runtime/page'
import { reviewOfToken } from '../confirm.ts'
import { confirmedPage, confirmPage, confirmQuery } from '../confirm-texts.ts'
import { reviewPeople } from '../form-page.ts'

export default storefrontPage({
  method: 'GET',
  path: '/reviews/confirm',
  description: 'The page of the link that confirms a review; it changes nothing by itself.',
  trust: 'The signed token of the link, which only the address was sent.',
  kind: 'link',
  feature: 'reviews',
  people: reviewPeople,
  async handler(ctx, visit) {
    const review = await reviewOfToken(ctx, visit.query(confirmQuery).token)
    if (!review) throw refuse('not_found', 'This link is not valid any more')
    if (!visit.wantsHtml) return jsonAnswer({ productName: review.productName, verified: review.verified })
    return review.verified ? confirmedPage(ctx) : confirmPage(ctx, review)
  },
})
