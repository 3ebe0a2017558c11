import { storefrontPage, type Visit } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { jsonAnswer } from '#runtime/page'
import { sha256 } from '#runtime/values/ids'
import type { ExchangeContent } from '../../settings/schema.ts'
import { requestAgain, seeOther } from '../form-answers.ts'
import { requestForm, storePhotos } from '../forms.ts'
import { whileOpen } from '../open-page.ts'
import { exchangePeople, pagesBase } from '../page-words.ts'
import { requestBody } from '../schema.ts'
import { statusUrlOf } from '../status-links.ts'
import { fillingOf, refuseFaults, submitRequest, trapped } from '../submit.ts'

export default storefrontPage({
  method: 'POST',
  path: '/exchanges/requests',
  description: 'Takes a request to exchange or return items of the order that was looked up.',
  trust: 'The signed token of a lookup.',
  kind: 'write',
  feature: 'exchanges',
  people: exchangePeople,
  form: requestAgain,
  handler: (ctx, visit) =>
    whileOpen(ctx, (settings) =>
      visit.isForm ? submitForm(ctx, visit, settings) : submitJson(ctx, visit, settings),
    ),
})

async function submitJson(ctx: Context, visit: Visit, settings: ExchangeContent): Promise<Response> {
  const submission = await visit.body(requestBody)
  refuseFaults(ctx, settings, submission)
  if (submission.website) return jsonAnswer(trapped(ctx), 201)
  await visit.accepted()
  const { number, status, token } = await submitRequest(ctx, settings, submission)
  return jsonAnswer({ number, status, statusUrl: statusUrlOf(ctx, token) }, 201)
}

/** Photos are stored once all else holds. */
async function submitForm(ctx: Context, visit: Visit, settings: ExchangeContent): Promise<Response> {
  const { submission, photos } = await requestForm(ctx, visit)
  refuseFaults(ctx, settings, { ...submission, photoUrls: photos.map(() => 'photo') })
  if (submission.website) return seeOther(pagesBase(ctx))
  await visit.accepted()
  const photoUrls = await storePhotos(ctx, photos)
  const contents = await Promise.all(
    photos.map(async (photo) => sha256(new Uint8Array(await photo.arrayBuffer()))),
  )
  const filling = fillingOf(submission, contents)
  const { token } = await submitRequest(ctx, settings, { ...submission, photoUrls }, filling)
  return seeOther(`${pagesBase(ctx)}/requests/${token}`)
}
