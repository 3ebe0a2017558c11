import { files } from '#operations/store/index'
import { storefrontPage } from '#operations/storefront/index'
import { hourMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { jsonAnswer } from '#runtime/page'
import { reviewImages } from '../../uploads.ts'
import { requireSettings } from '../submit.ts'

/** Uploads per hour and visitor: enough for several reviews. */
const uploadsAnHour = 60

export default storefrontPage({
  method: 'POST',
  path: '/reviews/upload-url',
  description: 'A link to upload a picture of a review: JPEG, PNG or WebP, up to 10 MiB.',
  trust: 'Anybody may upload a few; what no review uses goes after 24 hours.',
  kind: 'write',
  feature: 'reviews',
  async handler(ctx, visit) {
    const { form } = await requireSettings(ctx)
    if (!form.allowImages) throw refuse('forbidden', 'Pictures are not taken here')
    const body = await visit.body(files.uploadInput)
    await visit.limit('review-uploads', uploadsAnHour, hourMs)
    return jsonAnswer(await files.createUpload(ctx, reviewImages, body))
  },
})
