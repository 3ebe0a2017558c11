import { storefrontPage, storeResponse } from '#operations/storefront/index'
import { parseInput } from '#runtime/gateway/input'
import { jsonAnswer } from '#runtime/page'
import { renderSentPage, reviewAgain, reviewPeople } from '../form-page.ts'
import { type Submission, submitBody, submitForm } from '../schema.ts'
import { requireSettings, submitReview } from '../submit.ts'

export default storefrontPage({
  method: 'POST',
  path: '/reviews',
  description: 'Takes a review that a shopper wrote, on a product page or through the link of a request.',
  trust: 'Anybody may write one; only the random token of a request makes it of a purchase.',
  kind: 'write',
  feature: 'reviews',
  people: reviewPeople,
  form: reviewAgain,
  async handler(ctx, visit) {
    const { isForm } = visit
    const settings = await requireSettings(ctx)
    const body = isForm
      ? (parseInput(submitForm, await visit.fields(), 'body') as Submission)
      : await visit.body(submitBody)
    // A filled honeypot field shows a bot. It gets the same response as a person, but the review is not stored.
    if (body.website) return isForm ? renderSentPage(ctx) : jsonAnswer({ status: 'pending' }, 201)
    await visit.accepted()
    return ctx.transaction(async (tx) => {
      const answer = await submitReview(tx, settings, body)
      return storeResponse(tx, isForm ? renderSentPage(tx) : jsonAnswer(answer, 201))
    })
  },
})
