import { files } from '#operations/store/door'
import { blockImages } from '../../uploads.ts'

export default files.uploadOf(blockImages, {
  path: '/product-content-blocks/upload-url',
  description: 'Get a link to upload a picture for a content block.',
  details: 'PNG, JPEG, WebP and GIF, to 5 MiB. A file that nothing names is deleted after 24 hours.',
  words: 'picture for a block on product pages',
  feature: 'product-content',
  example: { fileName: 'antes.jpg', contentType: 'image/jpeg', size: 348_160 },
})
