import { storefrontPage } from '#operations/storefront/door'
import { Refusal } from '#runtime/errors'
import { read } from '#runtime/gateway/input'
import { jsonAnswer } from '#runtime/page'
import { refusedPage, sentPage } from '../form-page.ts'
import { type Submission, submitBody, submitForm } from '../schema.ts'
import { openSettings, submitReview } from '../submit.ts'

export default storefrontPage({
  method: 'POST',
  path: '/reviews',
  description: 'Takes a review that a shopper wrote, on a product page or through the link of a request.',
  trust: 'Anybody may write one; only the random token of a request makes it of a purchase.',
  kind: 'write',
  feature: 'reviews',
  async handler(ctx, visit) {
    const { isForm } = visit
    try {
      const settings = await openSettings(ctx)
      const body = isForm
        ? (read(submitForm, await visit.fields(), 'body') as Submission)
        : await visit.body(submitBody)
      // A machine that fills in everything: it learns nothing.
      if (body.website) return isForm ? sentPage() : jsonAnswer({ status: 'pending' }, 201)
      await visit.accepted()
      const answer = await submitReview(ctx, settings, body)
      return isForm ? sentPage() : jsonAnswer(answer, 201)
    } catch (error) {
      if (isForm && error instanceof Refusal) return refusedPage(error)
      throw error
    }
  },
})
