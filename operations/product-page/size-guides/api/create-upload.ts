import { files } from '#operations/store/door'
import { sizeGuideImages } from '../uploads.ts'

export default files.uploadOf(sizeGuideImages, {
  path: '/size-guides/upload-url',
  description: 'Get a link to upload the picture of a size guide.',
  details: 'PNG, JPEG and WebP, to 5 MiB. A file that nothing names is deleted after 24 hours.',
  words: 'picture of how to measure',
  feature: 'size-guides',
  example: { fileName: 'medidas.png', contentType: 'image/png', size: 48_000 },
})
