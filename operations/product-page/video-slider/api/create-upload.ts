import { files } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { sliderVideos } from '../../uploads.ts'

export default operation({
  method: 'POST',
  path: '/product-video-slider/upload-url',
  description: 'Get a link to upload a video or its poster, for products and the home page alike.',
  details:
    'MP4 and WebM to 100 MiB; posters as JPEG, PNG and WebP to 5 MiB. A file that nothing names is deleted after 24 hours.',
  words: 'upload a video',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'product-media',
  ...files.uploadOperation(sliderVideos),
  example: { body: { fileName: 'caneca.mp4', contentType: 'video/mp4', size: 8_388_608 } },
})
