import { storefrontPage, type Visit } from '#operations/storefront/lib/door'
import { Refusal } from '#runtime/errors'
import { read } from '#runtime/input'
import { jsonAnswer } from '#runtime/page'
import { readText } from '#runtime/web'
import { refusedPage, sentPage } from '../lib/form-page.ts'
import { openSettings, submitReview } from '../lib/submit.ts'
import { type Submission, submitBody, submitForm } from '../lib/submit-schema.ts'

const bodyAtMost = 32 * 1024

export default storefrontPage({
  method: 'POST',
  path: '/reviews',
  description: 'Takes a review that a shopper wrote, on a product page or through the link of a request.',
  trust: 'Anybody may write one; only the random token of a request makes it of a purchase.',
  kind: 'write',
  feature: 'reviews',
  async handler(ctx, visit) {
    const isForm = (visit.raw.headers.get('content-type') ?? '').startsWith(
      'application/x-www-form-urlencoded',
    )
    try {
      const settings = await openSettings(ctx)
      const body = isForm ? await formBody(visit) : await visit.body(submitBody)
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

/** Of the form without scripts: fields that were left empty are not there. */
async function formBody({ raw }: Visit): Promise<Submission> {
  const text = await readText(raw, raw.headers.get('content-length') ?? undefined, bodyAtMost)
  const given = [...new URLSearchParams(text)].filter(([, value]) => value !== '')
  return read(submitForm, Object.fromEntries(given), 'body') as Submission
}
