import { files } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { blockImages } from '../../uploads.ts'

export default operation({
  method: 'POST',
  path: '/product-content-blocks/upload-url',
  description: 'Get a link to upload a picture for a content block.',
  details: 'PNG, JPEG, WebP and GIF, to 5 MiB. A file that nothing names is deleted after 24 hours.',
  words: 'picture for a block on product pages',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'product-content',
  ...files.uploadOperation(blockImages),
  example: { body: { fileName: 'antes.jpg', contentType: 'image/jpeg', size: 348_160 } },
})
