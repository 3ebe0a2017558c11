import { storefrontPage } from '#operations/storefront/index'
import { refuse } from '#runtime/errors'
import { jsonAnswer } from '#runtime/page'
import { confirmReview, findReviewByToken } from '../confirm.ts'
import { confirmQuery, renderConfirmedPage } from '../confirm-pages.ts'
import { reviewPeople } from '../form-page.ts'

export default storefrontPage({
  method: 'POST',
  path: '/reviews/confirm',
  description: 'Confirms a review by the button behind its link.',
  trust: 'The signed token of the link, which only the address was sent.',
  kind: 'link',
  feature: 'reviews',
  people: reviewPeople,
  form: null,
  async handler(ctx, visit) {
    const review = await findReviewByToken(ctx, visit.query(confirmQuery).token)
    if (!review) throw refuse('not_found', 'This link is not valid any more')
    await confirmReview(ctx, review.id)
    return visit.wantsHtml ? renderConfirmedPage(ctx) : jsonAnswer({ verified: true })
  },
})
