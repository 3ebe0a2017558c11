import { storefrontPage } from '#operations/storefront/index'
import { refuse } from '#runtime/errors'
import { jsonAnswer } from '#runtime/page'
import { findReviewByToken } from '../confirm.ts'
import { confirmQuery, renderConfirmedPage, renderConfirmPage } from '../confirm-pages.ts'
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
    const review = await findReviewByToken(ctx, visit.query(confirmQuery).token)
    if (!review) throw refuse('not_found', 'This link is not valid any more')
    if (!visit.wantsHtml) return jsonAnswer({ productName: review.productName, verified: review.verified })
    return review.verified ? renderConfirmedPage(ctx) : renderConfirmPage(ctx, review)
  },
})
