import { files } from '#operations/store/door'
import { operation } from '#runtime/operation'
import { reviewImages } from '../../pictures.ts'

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
  ...files.uploadOf(reviewImages),
  example: { body: { fileName: 'mug.jpg', contentType: 'image/jpeg', size: 240_000 } },
})
