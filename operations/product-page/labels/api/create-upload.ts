import { files } from '#operations/store/door'
import { stickerImages } from '../../uploads.ts'

export default files.uploadOf(stickerImages, {
  path: '/product-stickers/upload-url',
  description: 'Get a link to upload the picture of a sticker.',
  details: 'PNG, WebP and GIF, to 2 MiB. A file that nothing names is deleted after 24 hours.',
  words: 'picture of a sticker',
  feature: 'product-content',
  example: { fileName: 'selo.png', contentType: 'image/png', size: 20_480 },
})
