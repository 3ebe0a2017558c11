import { files } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { reviewLogos } from '../../uploads.ts'

export default operation({
  method: 'POST',
  path: '/product-reviews/admin/logo-upload-url',
  description: 'Get a link to upload the logo of the review emails: JPEG, PNG or GIF, up to 2 MiB.',
  details: 'Those are the types that email programs show. Save the fileUrl as email.logoUrl of the settings.',
  words: 'logo in the review emails',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'reviews',
  ...files.uploadOperation(reviewLogos),
  example: { body: { fileName: 'logo.png', contentType: 'image/png', size: 12_000 } },
})
