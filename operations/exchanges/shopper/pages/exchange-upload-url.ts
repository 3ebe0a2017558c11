import { files } from '#operations/store/index'
import { storefrontPage } from '#operations/storefront/index'
import { hourMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { jsonAnswer } from '#runtime/page'
import { exchangePhotos } from '../../requests/photos.ts'
import { photoUploadBody } from '../schema.ts'
import { requireSession } from '../session.ts'
import { whileEnabled } from '../while-enabled.ts'

/** Rate limit per hour; enough for the photos of several requests. */
const uploadsAnHour = 60

export default storefrontPage({
  method: 'POST',
  path: '/exchanges/upload-url',
  description: 'A link to upload a photo of a request: JPEG, PNG, WebP or HEIC, up to 10 MiB.',
  trust: 'The signed token of a lookup; what no request uses goes after 24 hours.',
  kind: 'write',
  feature: 'exchanges',
  handler: (ctx, visit) =>
    whileEnabled(ctx, async ({ maxPhotos }) => {
      const { sessionToken, ...file } = await visit.body(photoUploadBody)
      requireSession(ctx, sessionToken)
      if (maxPhotos === 0) throw refuse('conflict', 'This store takes no photos')
      await visit.limit('exchange-uploads', uploadsAnHour, hourMs)
      return jsonAnswer(await files.createUpload(ctx, exchangePhotos, file))
    }),
})
