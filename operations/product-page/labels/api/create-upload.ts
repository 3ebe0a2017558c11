import { files } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { stickerImages } from '../../uploads.ts'

export default operation({
  method: 'POST',
  path: '/product-stickers/upload-url',
  description: 'Get a link to upload the picture of a sticker.',
  details: 'PNG, WebP and GIF, to 2 MiB. A file that nothing names is deleted after 24 hours.',
  words: 'picture of a sticker',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'product-content',
  ...files.uploadOperation(stickerImages),
  example: { body: { fileName: 'selo.png', contentType: 'image/png', size: 20_480 } },
})
