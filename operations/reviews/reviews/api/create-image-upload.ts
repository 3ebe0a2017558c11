import { files } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { reviewImages } from '../../uploads.ts'

export default operation({
  method: 'POST',
  path: '/product-reviews/admin/upload-url',
  description: 'Get a link to upload a picture of a review: JPEG, PNG or WebP, up to 10 MiB.',
  details:
    'The fileUrl is for the column picture_urls of an import. A file that nothing uses goes after 24 hours.',
  words: 'photo for a review',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'reviews',
  ...files.uploadOperation(reviewImages),
  example: { body: { fileName: 'mug.jpg', contentType: 'image/jpeg', size: 240_000 } },
})
