import { operation } from '#runtime/operation'
import { imageInput, storedImage, storeImage } from '../images.ts'

const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export default operation({
  method: 'POST',
  path: '/newsletter/upload-image',
  description: 'Upload an image for the popup: PNG, JPEG, WebP or GIF, at most 5 MiB and 6000 pixels a side.',
  details:
    'The type is detected from the bytes, not the name. An image that the settings do not use within 24 hours is deleted.',
  words: 'picture for the popup',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'newsletter',
  input: { body: imageInput },
  answer: { status: 201, body: storedImage },
  transaction: 'own',
  example: { body: { fileName: 'spring.png', data: onePixel } },
  handler: (ctx, { body }) => storeImage(ctx, body),
})
