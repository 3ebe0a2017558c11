import { storefrontPage, type Visit } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { jsonAnswer } from '#runtime/page'
import { sha256 } from '#runtime/values/ids'
import type { ExchangeContent } from '../../settings/schema.ts'
import { redirectTo, requestRedraw } from '../form-answers.ts'
import { parseRequestForm, storePhotos } from '../forms.ts'
import { exchangePeople, pagesBase } from '../page-words.ts'
import { requestBody } from '../schema.ts'
import { buildStatusUrl } from '../status-links.ts'
import { buildHoneypotAnswer, hashForm, submitRequest, validateSubmission } from '../submit.ts'
import { whileEnabled } from '../while-enabled.ts'

export default storefrontPage({
  method: 'POST',
  path: '/exchanges/requests',
  description: 'Takes a request to exchange or return items of the order that was looked up.',
  trust: 'The signed token of a lookup.',
  kind: 'write',
  feature: 'exchanges',
  people: exchangePeople,
  form: requestRedraw,
  handler: (ctx, visit) =>
    whileEnabled(ctx, (settings) =>
      visit.isForm ? submitForm(ctx, visit, settings) : submitJson(ctx, visit, settings),
    ),
})

async function submitJson(ctx: Context, visit: Visit, settings: ExchangeContent): Promise<Response> {
  const submission = await visit.body(requestBody)
  validateSubmission(ctx, settings, submission)
  if (submission.website) return jsonAnswer(buildHoneypotAnswer(ctx), 201)
  await visit.accepted()
  const { number, status, token } = await submitRequest(ctx, settings, submission)
  return jsonAnswer({ number, status, statusUrl: buildStatusUrl(ctx, token) }, 201)
}

/** Submits the HTML form. The photos are stored only after everything else is valid. */
async function submitForm(ctx: Context, visit: Visit, settings: ExchangeContent): Promise<Response> {
  const { submission, photos } = await parseRequestForm(ctx, visit)
  validateSubmission(ctx, settings, { ...submission, photoUrls: photos.map(() => 'photo') })
  if (submission.website) return redirectTo(pagesBase(ctx))
  await visit.accepted()
  const photoUrls = await storePhotos(ctx, photos)
  const contents = await Promise.all(
    photos.map(async (photo) => sha256(new Uint8Array(await photo.arrayBuffer()))),
  )
  const filling = hashForm(submission, contents)
  const { token } = await submitRequest(ctx, settings, { ...submission, photoUrls }, filling)
  return redirectTo(`${pagesBase(ctx)}/requests/${token}`)
}
