import { files } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { testimonialPhotos } from '../../uploads.ts'

export default operation({
  method: 'POST',
  path: '/store-testimonials/upload-url',
  description: 'Get a link to upload the photo of a testimonial: JPEG, PNG or WebP, up to 5 MiB.',
  words: 'photo of the person who is quoted',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'testimonials',
  ...files.uploadOperation(testimonialPhotos),
  example: { body: { fileName: 'ana.jpg', contentType: 'image/jpeg', size: 80_000 } },
})
