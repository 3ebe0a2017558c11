import { answeredIn, storefrontPage } from '#operations/storefront/door'
import { read } from '#runtime/gateway/input'
import { jsonAnswer } from '#runtime/page'
import { reviewAgain, reviewPeople, sentPage } from '../form-page.ts'
import { type Submission, submitBody, submitForm } from '../schema.ts'
import { openSettings, submitReview } from '../submit.ts'

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
    const settings = await openSettings(ctx)
    const body = isForm
      ? (read(submitForm, await visit.fields(), 'body') as Submission)
      : await visit.body(submitBody)
    // A machine that fills in everything: it learns nothing.
    if (body.website) return isForm ? sentPage(ctx) : jsonAnswer({ status: 'pending' }, 201)
    await visit.accepted()
    return ctx.transaction(async (tx) => {
      const answer = await submitReview(tx, settings, body)
      return answeredIn(tx, isForm ? sentPage(tx) : jsonAnswer(answer, 201))
    })
  },
})
