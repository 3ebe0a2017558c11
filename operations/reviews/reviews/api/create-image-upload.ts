import { files } from '#operations/store/door'
import { reviewImages } from '../../pictures.ts'

export default files.uploadOf(reviewImages, {
  path: '/product-reviews/admin/upload-url',
  description: 'Get a link to upload a picture of a review: JPEG, PNG or WebP, up to 10 MiB.',
  details:
    'The fileUrl is for the column picture_urls of an import. A file that nothing uses goes after 24 hours.',
  words: 'photo for a review',
  feature: 'reviews',
  example: { fileName: 'mug.jpg', contentType: 'image/jpeg', size: 240_000 },
})
