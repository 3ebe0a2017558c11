import { files } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { sizeGuideImages } from '../uploads.ts'

export default operation({
  method: 'POST',
  path: '/size-guides/upload-url',
  description: 'Get a link to upload the picture of a size guide.',
  details: 'PNG, JPEG and WebP, to 5 MiB. A file that nothing names is deleted after 24 hours.',
  words: 'picture of how to measure',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'size-guides',
  ...files.uploadOperation(sizeGuideImages),
  example: { body: { fileName: 'medidas.png', contentType: 'image/png', size: 48_000 } },
})
