import { files } from '#operations/store/door'
import { testimonialPhotos } from '../../pictures.ts'

export default files.uploadOf(testimonialPhotos, {
  path: '/store-testimonials/upload-url',
  description: 'Get a link to upload the photo of a testimonial: JPEG, PNG or WebP, up to 5 MiB.',
  words: 'photo of the person who is quoted',
  feature: 'testimonials',
  example: { fileName: 'ana.jpg', contentType: 'image/jpeg', size: 80_000 },
})
