import { storefrontPage } from '#operations/storefront/door'
import { refuse } from '#runtime/errors'
import { jsonAnswer } from '#runtime/page'
import { confirmReview, reviewOfToken } from '../confirm.ts'
import { confirmedPage, confirmQuery } from '../confirm-texts.ts'
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
    const review = await reviewOfToken(ctx, visit.query(confirmQuery).token)
    if (!review) throw refuse('not_found', 'This link is not valid any more')
    await confirmReview(ctx, review.id)
    return visit.wantsHtml ? confirmedPage(ctx) : jsonAnswer({ verified: true })
  },
})
