import { files } from '#operations/store/door'
import { reviewLogos } from '../../pictures.ts'

export default files.uploadOf(reviewLogos, {
  path: '/product-reviews/admin/logo-upload-url',
  description: 'Get a link to upload the logo of the review emails: JPEG, PNG or GIF, up to 2 MiB.',
  details: 'Those are the types that email programs show. Save the fileUrl as email.logoUrl of the settings.',
  words: 'logo in the review emails',
  feature: 'reviews',
  example: { fileName: 'logo.png', contentType: 'image/png', size: 12_000 },
})
